"""Quotes the last own line of a worker that fell silent, beside what is said of it."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import polars as pl

from analyzer.diagnose.wording import wording
from analyzer.model.findings import Evidence, Finding, Outcome, Role
from analyzer.model.run import Tables

_MAX_WORKERS = 4
_SILENT = ["running", "stopped", "vanished", "unknown", "signal"]
_NOT_ITS_OWN = [
    "exit_code",
    "slurm",
    "ended_by_scheduler",
    "cancelled_at",
    "time_limit_passed",
    "stop_requested",
]
"""Facts whose lines a launcher or the scheduler wrote into the log of a worker."""

_OF_ITS_LOG = "the log of "
"""Beginning of what rules say of how a log ends; it is not said of a worker that has none."""

LastLines = Mapping[str, Evidence]


def with_last_lines(findings: Sequence[Finding], tables: Tables) -> list[Finding]:
    """Return the findings; one that says that a log ends without an error has the last line of that log.

    Of a worker without a log, as where its pod shows the end, it says that there is none.
    A finding of a hang has the last line of each worker that it blames.
    """
    silent = {worker for finding in findings if _claims_a_cause(finding) for worker in _silent(finding)}
    last = _last_lines(tables, silent) if silent else {}
    unlogged = set(tables["lifetimes"].filter(~pl.col("logged"))["worker"])
    return [_with_ends(each, last, unlogged) if _claims_a_cause(each) else each for each in findings]


def _last_lines(tables: Tables, silent: AbstractSet[str]) -> LastLines:
    """Return worker → the last line that it logged, for the silent ones that left no error.

    Of a worker that caught SIGTERM, it is the last line above that. Of several logs, it is the latest line;
    a log without times, as a program's own output is, counts as the latest.
    """
    lives = tables["lifetimes"].filter(
        "logged", "no_exception", pl.col("ended").is_in(_SILENT), pl.col("worker").is_in([*silent])
    )
    wanted = lives.select("worker", "attempts", "went_on")
    facts = tables["facts"].drop_nulls("line").select("source", "line", "key")
    caught = facts.filter(key="sigterm").group_by("source").agg(stop=pl.col("line").min())
    foreign = facts.filter(pl.col("key").is_in(_NOT_ITS_OWN))
    records = tables["records"].select("worker", "attempt", "source", "line", "time", "near", "kind", "text")
    own = (
        records.join(wanted, on="worker", maintain_order="left")
        .filter(pl.max_horizontal("attempts", 1) == pl.col("attempt").fill_null(1))
        .join(foreign, on=["source", "line"], how="anti", maintain_order="left")
        .join(caught, on="source", how="left", maintain_order="left")
        .filter("went_on" | (pl.col("line") < pl.col("stop").fill_null(2**62)))
        .filter((pl.col("kind") == "progress") | pl.col("text").str.contains(r"^\S.*\w"))
    )
    ends = own.group_by("worker", "source", maintain_order=True).last()
    latest = ends.sort(pl.col("near").fill_null(float("inf")), maintain_order=True)
    rows = latest.unique("worker", keep="last").iter_rows(named=True)
    return {row["worker"]: _evidence(row) for row in rows}


def _evidence(row: Mapping[str, Any]) -> Evidence:
    says = f"the last line of {row['worker']}" + " before SIGTERM" * (row["stop"] is not None)
    return Evidence(says, "line", row["worker"], row["source"], row["line"], time=row["time"])


def _claims_a_cause(finding: Finding) -> bool:
    return finding.outcome is Outcome.FIRED and finding.role is Role.CAUSE


def _hanging(finding: Finding) -> Sequence[str]:
    """Return the workers that a finding of a hang blames, a few of them."""
    is_hang = (finding.cause or "").startswith("hang.")
    return (finding.culprits or finding.suspects)[:_MAX_WORKERS] if is_hang else ()


def _lacks_line(evidence: Evidence) -> bool:
    return evidence.kind == "absence" and not evidence.source


def _silent(finding: Finding) -> Iterator[str]:
    """Yield the workers whose silence a finding rests on."""
    yield from _hanging(finding)
    yield from (each.worker for each in finding.evidence if _lacks_line(each) and each.worker)


def _with_ends(finding: Finding, last: LastLines, unlogged: AbstractSet[str]) -> Finding:
    evidence = [_with_end(each, last, unlogged) if _lacks_line(each) else each for each in finding.evidence]
    quoted = {(each.source, each.line) for each in evidence}
    ends = [last[worker] for worker in _hanging(finding) if worker in last]
    evidence += [each for each in ends if (each.source, each.line) not in quoted]
    return finding._replace(evidence=tuple(evidence))


def _with_end(evidence: Evidence, last: LastLines, unlogged: AbstractSet[str]) -> Evidence:
    if evidence.worker in unlogged and evidence.says.startswith(_OF_ITS_LOG):
        return evidence._replace(says=wording()["no_log"].format(worker=evidence.worker))
    end = last.get(evidence.worker or "")
    return (
        evidence._replace(kind="line", source=end.source, line=end.line, time=end.time) if end else evidence
    )
