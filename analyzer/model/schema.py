"""The schema of the tables: type, unit and meaning of every column that a rule may name, from `tables.json`.

`Tables` maps a name of `TABLES` to a polars frame with exactly the columns declared there, in that order.
Times are seconds since 1970-01-01 UTC. A null means unknown, never "no".
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

LARGEST_INT = 2**63 - 1
"""The largest number that a column of type `int` holds."""


class Column(NamedTuple):
    """One column; its type is a key of `tables.builders.DTYPES`."""

    name: str
    type: str
    meaning: str
    values: Sequence[str] = ()
    """The only values that a cell can have, besides null; empty if any value can stand there."""


_DECLARED = json.loads(Path(__file__).with_name("tables.json").read_text(encoding="utf-8"))

TABLES: Mapping[str, tuple[Column, ...]] = {
    table: tuple(
        Column(name, *(_DECLARED["shared"][name] if column == "shared" else column))
        for name, column in columns.items()
    )
    for table, columns in _DECLARED["tables"].items()
}
"""Table → its columns; a column declared as "shared" means the same in every table that has it."""

VALIDATION = r"^(?:validation|valid|val|evaluation|eval(?:_\w+)?|test|dev)/"
"""Regex for tags and TensorBoard folders of values measured on validation data."""

GAUGE = "gauge"
"""Origin of scalars that are readings of the machine, not progress of the training."""

POSITIONS = ("step", "epoch", "checkpoint_step")
"""Tags of scalars that say where the training is; all other tags are of measured values."""

READ = (
    "sources", "records", "matches", "scalars", "spans", "facts", "checksums", "reach", "stalls", "damage",
)  # fmt: skip
"""The tables that ingest fills; all others are derived from them."""
