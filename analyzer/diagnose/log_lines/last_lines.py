"""Quotes the last own line of a worker that fell silent, beside what is said of it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import polars as pl

from analyzer.model.findings import Evidence, Finding, Outcome, Role
from analyzer.model.run import Tables

_MAX_WORKERS = 4
_SILENT = ["running", "stopped", "vanished", "unknown", "signal"]
_NOT_ITS_OWN = ["exit_code", "slurm", "ended_by_scheduler", "cancelled_at", "time_limit_passed"]
"""Facts whose lines a launcher or the scheduler wrote into the log of a worker."""

LastLines = Mapping[str, Evidence]


def last_lines(tables: Tables) -> LastLines:
    """Return worker → the last line that it logged, of workers that left no error.

    Of a worker that caught SIGTERM, it is the last line above that. Of several logs, it is the latest line;
    a log without times, as a program's own output is, counts as the latest.
    """
    lives = tables["lifetimes"].filter("logged", "no_exception", pl.col("ended").is_in(_SILENT))
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


def with_last_lines(finding: Finding, last: LastLines) -> Finding:
    """Return a finding; where it says that a log ends without an error, it has the last line of that log.

    A finding of a hang has the last line of each worker that it blames.
    """
    if finding.outcome is not Outcome.FIRED or finding.role is not Role.CAUSE:
        return finding
    evidence = [*_with_ends(finding.evidence, last)]
    if (finding.cause or "").startswith("hang."):
        quoted = {(each.source, each.line) for each in evidence}
        blamed = (finding.culprits or finding.suspects)[:_MAX_WORKERS]
        ends = [last[worker] for worker in blamed if worker in last]
        evidence += [each for each in ends if (each.source, each.line) not in quoted]
    return finding._replace(evidence=tuple(evidence))


def _with_ends(evidence: Iterable[Evidence], last: LastLines) -> Iterator[Evidence]:
    for each in evidence:
        end = last.get(each.worker or "") if each.kind == "absence" and not each.source else None
        yield each._replace(kind="line", source=end.source, line=end.line, time=end.time) if end else each
