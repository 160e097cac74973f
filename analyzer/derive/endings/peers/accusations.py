"""Derives the table of accusations: which worker reports which peer as lost, and whether that counts."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from analyzer.derive.cluster.workers import tasks_by_address
from analyzer.derive.endings.peers.complaints import Complaint, complaints, is_unanswered, peer_wording
from analyzer.derive.endings.peers.evidence import (
    discount_each_other,
    is_evidence,
    is_replaced,
    last_words,
)
from analyzer.derive.training.ordering import line_at, printed_after_end
from analyzer.model.messages import Messages
from analyzer.model.task_names import DEVICE, device_of, in_order, task_of
from analyzer.tables.builders import frame

_OF_ITSELF = ("missing", "restarted")
"""Kinds of reports that a task prints about itself, too: Horovod's coordinator, rank 0, may miss its own."""


def accusations(
    records: pl.DataFrame, facts: pl.DataFrame, lifetimes: pl.DataFrame, messages: Messages
) -> pl.DataFrame:
    """Return one row per accuser, peer and kind: the first record that reports it."""
    ends = {row["worker"]: row for row in lifetimes.iter_rows(named=True)}
    first: dict[tuple[str | None, str, str], dict[str, Any]] = {}
    lost: dict[tuple[str | None, str], float | None] = {}
    leader = next((row["worker"] for row in ends.values() if row["leader"]), "worker:0")
    words = pl.lit([*messages.literals("peer"), *messages.literals("remote_target")], pl.List(pl.String))
    naming = records.filter(
        pl.col("level").is_in(["W", "E", "F"]) | (pl.col("level").is_null() & (pl.col("kind") == "plain")),
        pl.col("text").str.contains_any(words),
    )
    if naming.is_empty():
        return frame("accusations", _awaited(facts, ends))
    tasks, wording = tasks_by_address(facts), peer_wording(messages)
    cut = facts.filter(key="ends_within_line")["worker"].drop_nulls()
    said = last_words(records.filter(~pl.col("worker").is_in(cut.implode())))
    last = dict(records.group_by("worker").agg(pl.col("time").max()).iter_rows())
    may_be_replaced = any(task.startswith("ps:") for task in ends)
    for record in naming.with_columns(printed_after_end(naming, lifetimes)).iter_rows(named=True):
        for found in complaints(record["text"], leader, tasks, wording):
            accuser = record["worker"]
            if found.worker != accuser or found.kind in _OF_ITSELF:
                since = lost.setdefault((accuser, found.worker), record["time"] or record["near"])
                survived = _seconds_between(since, last.get(accuser))
                replaced = may_be_replaced and is_replaced(found, ends.get(accuser), survived)
                row = _row(record, found) | {
                    "counts": is_evidence(record, found, ends, said) and not replaced
                }
                row["unanswered"] = is_unanswered(record["text"], wording)
                row |= {"went_on": _seconds_between(row["time"], last.get(accuser)), "told_by": found.told_by}
                key = (accuser, found.worker, found.kind)
                if key not in first or (row["counts"] and not first[key]["counts"]):
                    first[key] = row
    trainers = {worker for worker, end in ends.items() if end["trains"]}
    discount_each_other([row for row in first.values() if row["kind"] == "missing"], trainers)
    for row in first.values():
        told_by = row.pop("told_by")
        if told_by not in {None, row["accuser"]} and (told_by, row["worker"], row["kind"]) in first:
            row["counts"] = False
    return frame("accusations", [*first.values(), *_awaited(facts, ends)])


def _seconds_between(start: float | None, end: float | None) -> float | None:
    return None if start is None or end is None else max(0.0, end - start)


def _row(record: Mapping[str, Any], found: Complaint) -> dict[str, Any]:
    text = record["text"]
    says = text[text.rfind("\n", 0, found.at) + 1 :].partition("\n")[0]
    start, end = _named_at(says, found.worker)
    return {
        "accuser": record["worker"],
        "worker": found.worker,
        "source": record["source"],
        "line": line_at(record, found.at),
        "time": record["near"],
        "kind": found.kind,
        "method": found.method,
        "says": says,
        "start": start,
        "end": end,
    }


def _named_at(says: str, worker: str) -> tuple[int, int] | tuple[None, None]:
    """Return (start, end) of a worker's device string in a line; (None, None) if it has none."""
    named = (match.span() for match in re.finditer(DEVICE, says) if task_of(match) == worker)
    return next(named, (None, None))


def _awaited(facts: pl.DataFrame, ends: Mapping[str, Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield a complaint for each task that the leader was still waiting for at the end of its log."""
    assembled = set(facts.filter(pl.col("key").is_in(["assembled"]))["worker"].to_list())
    connected = set(facts.filter(pl.col("key") == "connected")["value"].to_list())
    waits = facts.filter((pl.col("key") == "awaits") & ~pl.col("value").is_in(sorted(connected)))
    first = {row["value"]: row for row in waits.reverse().iter_rows(named=True)}
    for task in in_order(first):
        row = first[task]
        if row["worker"] not in assembled:
            yield {
                "accuser": row["worker"],
                "worker": task,
                "source": row["source"],
                "line": row["line"],
                "time": row["time"],
                "kind": "absent",
                "says": device_of(task),
                "counts": ends.get(task, {}).get("phase") not in {"joined", "training", "finished"},
            }
