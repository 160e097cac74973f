"""Lowers the confidence in findings that rest on the silence of a worker whose log was cut.

A log that ends within a line may be the beginning of a longer one. It may also be that of a process that was
killed with half a line in its buffer, so what others say of the worker still counts.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import partial

import polars as pl

from analyzer.model.findings import LEVELS, Finding
from analyzer.model.run import Tables

_CAP_ONE = LEVELS["likely"]
"""Highest confidence if only the log of the blamed worker ends within a line: its death may have cut it."""
_CAP_SEVERAL = LEVELS["weak"]
"""Highest confidence if logs of several workers do: whatever cut the others cut this one, too."""


def with_cut_logs(findings: Sequence[Finding], tables: Tables) -> Sequence[Finding]:
    """Return the findings; those that rest on the silence of a cut log are less sure.

    If several logs are cut, the culprits of such a finding become suspects.
    """
    cut = {*tables["lifetimes"].filter(pl.col("cut_off"))["worker"]}
    several = tables["facts"].filter(key="ends_within_line")["worker"].n_unique() > 1
    return [*map(partial(_with_doubt, cut, several), findings)] if cut else findings


def _with_doubt(cut: AbstractSet[str], several: bool, finding: Finding) -> Finding:
    silent = {each.worker for each in finding.evidence if each.kind == "absence"}
    if (silent & cut).isdisjoint(finding.culprits + finding.suspects):
        return finding
    most, whose = (_CAP_SEVERAL, "several logs end") if several else (_CAP_ONE, "its log ends")
    if several:
        finding = finding._replace(culprits=(), suspects=finding.culprits + finding.suspects)
    trace = (
        *finding.confidence_trace,
        f"at most {most * 100:.0f} %, for {whose} within a line and may be cut",
    )
    lowered = finding.confidence > most
    return finding._replace(confidence=most, confidence_trace=trace) if lowered else finding
