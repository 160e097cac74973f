"""Who names whom, in each TensorFlow version's own dialect.

A survivor's error names the peer that it lost. A status that crossed several workers names several; the
innermost one, next to the root message, is where it began. Coordination heartbeats name the task that fell
silent, and calls to the coordination service name the leader because it hosts that service.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import polars as pl

from analyzer.derive.ordering import behind_end, line_at
from analyzer.derive.workers import cluster_specs
from analyzer.model.task_names import DEVICE, device_of, in_order, tasks_in
from analyzer.tables.builders import frame

_TARGET = re.compile(
    r"Additional GRPC error information from remote target "
    + DEVICE
    + r"[^\n]*?(?: while calling /tensorflow\.(?P<method>[\w.]+/\w+))?:\n"
)
_ROOT = re.compile(
    r".*(?:Collective ops is aborted by: |StartAbort |Aborting \w+ with |is set to ERROR: )", re.DOTALL
)
_HEARTBEAT = re.compile(r"Task " + DEVICE + r" heartbeat timeout")
_UNHEALTHY = re.compile(r"unhealthy \(stopped sending heartbeats\):\n(?P<tasks>(?:/job:\S+\n?)+)")
_DOWN = re.compile(DEVICE + r" (?:seems down|is down)")
_RESTARTED = re.compile(
    r"(?:"
    + DEVICE
    + r"[^\n]{0,80})?(?:current incarnation doesn't match|exists in cache with a different incarnation"
    r"|unexpectedly tried to connect with a different incarnation|Duplicate task registration"
    r"|ncarnation ID mismatch)"
)
_BARE_CALL = re.compile(r"RPC: /tensorflow\.(?P<method>CoordinationService/\w+)")
"""A call of which no remote target is named; TensorFlow 2.21 words a deadline so."""
_LEADER = re.compile(
    r"Failed to send RPC to coordination service|coordination +leader[^\n]{0,40}has restarted"
)
_TRANSPORT = re.compile(
    r"Connection reset|Socket closed|failed to connect|Connection refused|Transport closed|Stream removed"
    r"|GOAWAY|keepalive watchdog|ping timeout|No route to host|Network is unreachable|Connection timed out"
    r"|Broken pipe|grpc_status\W{1,3}14"
)
_UNRESOLVED = re.compile(
    r"(?i)(?:DNS|name) resolution failed|failure in name resolution|C-ares status is not"
    r"|name or service not known"
)
_UNRESOLVED_ADDRESS = re.compile(
    r"(?i)(?:DNS|name) resolution failed for (?:service: |dns:/{0,3})?(?P<address>[\w.-]+:\d+)"
)
_DEADLINE = re.compile(r"Deadline Exceeded|DEADLINE_EXCEEDED|grpc_status\W{1,3}4\b")
_CANCELLED = re.compile(r"CANCELLED|Cancelled|grpc_status\W{1,3}1\b")
_KINDS = {
    "unresolved": _UNRESOLVED,
    "transport": _TRANSPORT,
    "deadline": _DEADLINE,
    "cancelled": _CANCELLED,
}
_REACHES = re.compile(
    r"heartbeat|remote target|seems down|is down|unhealthy|incarnation|[Cc]oordination|Duplicate task"
    r"|resolution failed for"
)


class Accusation(NamedTuple):
    """That a task is named, and how."""

    worker: str
    kind: str
    method: str | None
    at: int


def accusations(records: pl.DataFrame, facts: pl.DataFrame, lifetimes: pl.DataFrame) -> pl.DataFrame:
    """One row for each worker, peer and kind: the first record that says so."""
    ends = {row["worker"]: row for row in lifetimes.iter_rows(named=True)}
    first: dict[tuple[str | None, str, str], dict[str, Any]] = {}
    leader = next((row["worker"] for row in ends.values() if row["leader"]), "worker:0")
    tasks = _tasks_by_address(facts)
    grave = records.filter(pl.col("level").is_in(["W", "E", "F"]))
    for record in grave.with_columns(behind_end(grave, lifetimes)).iter_rows(named=True):
        for found in _named(record["text"], leader, tasks) if _REACHES.search(record["text"]) else ():
            accuser = record["worker"]
            if found.worker != accuser or found.kind == "restarted":
                row = _row(record, found) | {"counts": _counts(record, found, ends)}
                key = (accuser, found.worker, found.kind)
                if key not in first or (row["counts"] and not first[key]["counts"]):
                    first[key] = row
    return frame("accusations", [*first.values(), *_awaited(facts, ends)])


def _tasks_by_address(facts: pl.DataFrame) -> dict[str, str]:
    """Address → the one task that has it in every cluster that the run shows."""
    found: dict[str, set[str]] = {}
    for spec in cluster_specs(facts).values():
        for role, addresses in spec.items():
            for index, address in enumerate(addresses):
                found.setdefault(address, set()).add(f"{role}:{index}")
    return {address: next(iter(tasks)) for address, tasks in found.items() if len(tasks) == 1}


def _named(text: str, leader: str, tasks: Mapping[str, str]) -> Iterator[Accusation]:
    if match := _HEARTBEAT.search(text):
        yield Accusation(_task(match), "heartbeat", None, match.start())
    if match := _UNHEALTHY.search(text):
        for task in tasks_in(match["tasks"]):
            yield Accusation(task, "heartbeat", None, match.start())
    if match := _DOWN.search(text):
        yield Accusation(_task(match), "down", None, match.start())
    if (match := _RESTARTED.search(text)) and match["role"]:
        yield Accusation(_task(match), "restarted", None, match.start())
    if (match := _BARE_CALL.search(text)) and (_DEADLINE.search(text) or _TRANSPORT.search(text)):
        yield Accusation(leader, "leader", match["method"], match.start())
    for match in _UNRESOLVED_ADDRESS.finditer(text):
        if owner := tasks.get(match["address"]):
            yield Accusation(owner, "unresolved", None, match.start())
    yield from _remote(text)


def _remote(text: str) -> Iterator[Accusation]:
    """The peer whose call failed: of a nested status, the one next to the root message."""
    root = _ROOT.match(text)
    match = _TARGET.search(text, root.end() if root else 0) or _TARGET.search(text)
    if not match:
        return
    said = text[root.end() if root and root.end() < match.start() else 0 : match.start()]
    rest = text[match.end() : match.end() + 1_200].partition("Additional GRPC")[0]
    method = match["method"]
    kind = _kind(said) or _kind(rest.partition("\n")[0])
    if (method and method.startswith("CoordinationService")) or _LEADER.search(said):
        kind = "leader" if kind in {"transport", "deadline"} or _LEADER.search(said) else None
    if kind:
        yield Accusation(_task(match), kind, method, match.start())


def _kind(said: str) -> str | None:
    return next((kind for kind, pattern in _KINDS.items() if pattern.search(said)), None)


def _task(match: re.Match[str]) -> str:
    return f"{match['role']}:{match['index']}"


def _row(record: Mapping[str, Any], found: Accusation) -> dict[str, Any]:
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
    """Where the words name a worker; a call to the leader may not."""
    named = (match.span() for match in re.finditer(DEVICE, says) if _task(match) == worker)
    return next(named, (None, None))


def _counts(record: Mapping[str, Any], found: Accusation, ends: Mapping[str, Mapping[str, Any]]) -> bool:
    """Not where the accuser had already finished; there, a peer that went is as it should be.

    Nor where it finished later, and nothing but its own words speaks against the accused.
    """
    if record["behind_end"]:
        return False
    accused, accuser = ends.get(found.worker), ends.get(record["worker"])
    if not accuser or not accused or accuser["ended"] != "finished":
        return True
    return bool(accused["logged"] and accused["ended"] != "finished")


def _awaited(facts: pl.DataFrame, ends: Mapping[str, Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Tasks that the leader still waited for when it was last heard of."""
    assembled = set(facts.filter(pl.col("key").is_in(["assembled"]))["worker"].to_list())
    connected = set(facts.filter(pl.col("key") == "connected")["value"].to_list())
    waits = facts.filter((pl.col("key") == "awaits") & ~pl.col("value").is_in(sorted(connected)))
    for task in in_order(waits["value"].to_list()):
        row = waits.filter(pl.col("value") == task).row(0, named=True)
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
