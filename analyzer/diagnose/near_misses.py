"""Finds rules that did not fire for want of one signal, and the file that might contain the signal."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

import polars as pl

from analyzer.diagnose.decide import Decision
from analyzer.diagnose.wording import wording
from analyzer.model.contract import NearMiss
from analyzer.model.findings import Finding, MissingSignal, Outcome, Role, Verdict
from analyzer.model.run import Tables

MAX_NEAR_MISSES = 4
_STRUCTURE = frozenset({"role", "leader", "trains", "index", "expected", "key"})
"""Columns that describe the kind of job; a rule that misses only these is for another kind of job."""

_ENDS = frozenset({"exit_code", "signal", "ended"})


def near_misses(findings: Sequence[Finding], decision: Decision, tables: Tables) -> list[NearMiss]:
    """Return causes that missed one signal; first those whose signal a missing file might contain.

    The others are left out if a cause is known, since the files that were read refute them, or if nothing
    but the course of the job speaks for them, which is alike in many failures.
    """
    if decision.verdict is Verdict.HEALTHY:
        return []
    lives = tables["lifetimes"].filter("trains")
    found = [
        (finding, finding.near, _collect(finding.near, lives, tables["sources"]))
        for finding in findings
        if finding.outcome is Outcome.QUIET and finding.role is Role.CAUSE and finding.near
        if not set(finding.near.columns) <= _STRUCTURE and not _repeats_verdict(finding, decision)
    ]
    found = [each for each in found if each[2] or (each[1].telling and not decision.chosen)]
    found.sort(key=lambda each: (each[2] is None, -len(each[1].held), each[0].rule))
    return [_document(*each) for each in found[:MAX_NEAR_MISSES]]


def _repeats_verdict(finding: Finding, decision: Decision) -> bool:
    """Return True if the finding has the verdict's cause or is explained by the verdict's rule."""
    if decision.chosen is None:
        return False
    cause = finding.cause or ""
    explained = any(fnmatchcase(name, p) for p in decision.chosen.explains for name in (finding.rule, cause))
    return explained or cause == decision.cause


def _collect(near: MissingSignal, lives: pl.DataFrame, sources: pl.DataFrame) -> str | None:
    """Return the missing file that might contain the signal; None if all relevant files were collected.

    A worker that was still running has no exit code to collect.
    """
    worker = near.worker or "every worker"
    if near.table == "lifetimes" and _ENDS & set(near.columns):
        own = lives.filter(pl.col("worker") == near.worker) if near.worker else lives
        ended = own.filter((pl.col("ended") != "running") | ~pl.col("sure"))
        return f"the exit code of {worker}" if ended["exit_code"].null_count() else None
    missing_file = wording()["missing_files"].get(near.table)
    if missing_file is None:
        return None
    usable = pl.col("kind").is_in(missing_file["kinds"]) & (pl.col("read") != "skipped")
    needed = {near.worker} if near.worker and near.table != "accusations" else set(lives["worker"])
    here = needed <= set(sources.filter(usable)["worker"])
    return None if here else str(missing_file["ask"].format(worker=worker))


def _document(finding: Finding, near: MissingSignal, collect: str | None) -> NearMiss:
    return {
        "rule": finding.rule,
        "title": finding.title,
        "cause": finding.cause or "",
        "worker": near.worker or None,
        "held": [name.replace("_", " ") for name in near.held],
        "missing": near.missing.replace("_", " "),
        "collect": collect,
    }
