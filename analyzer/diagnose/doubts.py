"""What speaks against "nothing failed" although every training worker reached its end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

import polars as pl

from analyzer.diagnose.endings import how_it_ended
from analyzer.model.findings import Finding, Outcome, Role
from analyzer.model.run import Tables

_SIGTERM = 15


def doubts(findings: Sequence[Finding], tables: Tables) -> list[str]:
    """Return a sentence for each observation that a healthy job would not show."""
    return [*_refuting(findings), *_ended_badly(tables["lifetimes"])]


def _refuting(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield what findings say whose rules declare that they contradict `healthy`."""
    for finding in findings:
        fired = finding.outcome is Outcome.FIRED and finding.role is not Role.BENIGN
        if fired and any(fnmatchcase("healthy", pattern) for pattern in finding.contradicts):
            yield finding.summary


def _ended_badly(lifetimes: pl.DataFrame) -> Iterator[str]:
    """Yield how other tasks than training workers ended; SIGTERM is how an evaluator is told to stop."""
    for life in lifetimes.filter(~pl.col("trains")).iter_rows(named=True):
        crashed = life["ended"] == "signal" and life["signal"] != _SIGTERM
        if crashed or life["ended"] == "exception" or (life["ended"] == "exited" and life["exit_code"]):
            yield f"{life['worker']} {how_it_ended(life)}."
