"""Finds calls to a port on which the server of the called task does not listen."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from analyzer.derive.cluster.addresses import split_address
from analyzer.derive.training.ordering import line_at
from analyzer.model.messages import Messages
from analyzer.model.task_names import task_of
from analyzer.tables.builders import frame


def misdirected_calls(records: pl.DataFrame, facts: pl.DataFrame, messages: Messages) -> pl.DataFrame:
    """Return one row per caller and called task: the first failed call to a port that is not the server's.

    `worker` is the one whose list of addresses is wrong: the caller if all servers listen on one port and it
    called another; the called task if all others listen on the called port; else, or with two servers, null.
    """
    servers, words = _servers(facts), pl.lit([*messages.literals("remote_target")], pl.List(pl.String))
    ports = Counter(split_address(address)[1] for address in servers.values())
    naming = records.filter(pl.col("text").str.contains_any(words))
    rows: dict[tuple[str | None, str], dict[str, Any]] = {}
    for record in naming.iter_rows(named=True):
        for row in _calls(record, servers, messages):
            row["worker"] = _wrong(row, ports)
            rows.setdefault((row["caller"], row["task"]), row)
    return frame("misdirected_calls", rows.values())


def _servers(facts: pl.DataFrame) -> Mapping[str, str]:
    """Return task → address on which its server listens, for tasks that stated the same one at each start."""
    stated = facts.filter((pl.col("key") == "server_address") & pl.col("worker").is_not_null())
    lasting = stated.group_by("worker").agg(pl.col("value").unique()).filter(pl.col("value").list.len() == 1)
    return dict(lasting.explode("value").iter_rows())


def _calls(
    record: Mapping[str, Any], servers: Mapping[str, str], messages: Messages
) -> Iterator[dict[str, Any]]:
    """Yield the failed call of a record whose port is not that of the called task's server.

    If several tasks passed a status on, the target nearest to the address is the called task, and the next
    target its caller. Up to TensorFlow 2.16, the address follows the target.
    """
    text = record["text"]
    failed = next(_unreached(text, messages), None)
    if not failed:
        return
    named = sorted(messages.wording("remote_target").matches(text), key=re.Match.start)
    before = sum(match.start() < failed.start() for match in named)
    targets = named[max(before - 1, 0) :]
    if not targets or (task := task_of(targets[0])) not in servers:
        return
    caller = task_of(targets[1]) if len(targets) > 1 else record["worker"]
    port, listens = split_address(failed["address"])[1], split_address(servers[task])[1]
    if port and listens and port != listens and caller != task:
        yield {
            "caller": caller,
            "task": task,
            "address": failed["address"],
            "serves": servers[task],
            "source": record["source"],
            "line": line_at(record, failed.start()),
        }


def _unreached(text: str, messages: Messages) -> Iterator[re.Match[str]]:
    found = messages.wording("peer", "transport").matches(text)
    yield from sorted((each for each in found if each.groupdict().get("address")), key=re.Match.start)


def _wrong(call: Mapping[str, Any], ports: Mapping[str, int]) -> str | None:
    """Return the task whose list of addresses is wrong, None if the ports do not tell.

    `ports` has how many servers listen on each.
    """
    servers = sum(ports.values())
    caller: str | None = call["caller"]
    task: str = call["task"]
    if len(ports) == 1 and servers > 2:
        return caller
    called, own = (split_address(call[address])[1] for address in ("address", "serves"))
    return task if ports[own] == 1 and ports[called] == servers - 1 > 1 else None
