"""The schema of the tables: type, unit and meaning of every column that a rule may name.

`Tables` maps a name of `TABLES` to a polars frame with exactly the columns declared here, in this order.
Times are seconds since 1970-01-01 UTC. A null says "the files do not tell", never "no".
"""

from __future__ import annotations

from collections.abc import Mapping

from analyzer.model.columns import Column
from analyzer.model.columns.profiler import COLLECTIVES, STEPS, WAITS
from analyzer.model.columns.progress import CURVES, PACES, PAUSES, PHASES, SERIES
from analyzer.model.columns.read import DAMAGE, FACTS, MATCHES, RECORDS, SCALARS, SOURCES, SPANS
from analyzer.model.columns.workers import (
    ACCUSATIONS,
    BARRIERS,
    CLOCKS,
    CLUSTER,
    EXCEPTIONS,
    JOB,
    LIFETIMES,
    SILENCES,
    WORKERS,
)

__all__ = ["GAUGE", "LARGEST_INT", "READ", "TABLES", "VALIDATION", "Column"]

LARGEST_INT = 2**63 - 1
"""The largest number that a column of type `int` holds."""

TABLES: Mapping[str, tuple[Column, ...]] = {
    "sources": SOURCES,
    "records": RECORDS,
    "matches": MATCHES,
    "scalars": SCALARS,
    "spans": SPANS,
    "facts": FACTS,
    "damage": DAMAGE,
    "workers": WORKERS,
    "clocks": CLOCKS,
    "exceptions": EXCEPTIONS,
    "accusations": ACCUSATIONS,
    "lifetimes": LIFETIMES,
    "silences": SILENCES,
    "barriers": BARRIERS,
    "series": SERIES,
    "curves": CURVES,
    "paces": PACES,
    "pauses": PAUSES,
    "phases": PHASES,
    "collectives": COLLECTIVES,
    "steps": STEPS,
    "waits": WAITS,
    "cluster": CLUSTER,
    "job": JOB,
}

VALIDATION = r"^(?:validation|valid|val|evaluation|eval(?:_\w+)?|test|dev)/"
"""Tags and TensorBoard folders under which a model is only tried out; its training stands elsewhere."""

GAUGE = "gauge"
"""Origin of scalars that are readings of the machine and no progress of the training."""

READ = ("sources", "records", "matches", "scalars", "spans", "facts", "damage")
"""The tables that ingest fills; all others are derived from them."""
