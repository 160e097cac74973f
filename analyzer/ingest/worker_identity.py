"""Which worker a log belongs to when its name does not tell, or has a number and no role.

The log's own words decide: the task it says it is, the device strings of its errors, the address its server
listens on. A worker's log that says nothing gets the next free index, and a fact `attributed` that says so.
A log in which several workers speak without a mark is nobody's, and a fact `several_workers` says so.
A log beside those of workers that shows nothing of a training, as one of the kernel, is no worker's.
Numbers from 1 on, as docker compose gives, are counted from 0, as tasks are.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from analyzer.ingest.reader_output import SourceRows
from analyzer.model.schema import GAUGE
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import is_numbered, is_task


def attribute(outputs: Sequence[SourceRows]) -> None:
    """Give every log without a worker one; logs of one directory that name none belong together."""
    _recount(outputs)
    nameless = [r for r in outputs if r.source.kind is Kind.LOG and r.source.worker is None and r.has_rows]
    taken = {r.source.worker for r in outputs if r.source.worker}
    named = {r.source.worker for r in outputs if r.source.kind is Kind.LOG and r.source.worker}
    clusters = _clusters(outputs)
    for group in _groups(nameless):
        if _several(group, clusters):
            group[0].add("facts", line=1, key="several_workers", value="yes")
            continue
        if named and not any(_trains(output) for output in group):
            continue
        claimed = _claim(group, clusters)
        worker = claimed if claimed and claimed not in taken else _free(taken)
        taken.add(worker)
        for output in group:
            output.source = output.source._replace(worker=worker)
            if worker != claimed:
                output.add("facts", line=1, key="attributed", value="by the order of the files")


def _recount(outputs: Sequence[SourceRows]) -> None:
    """Give logs that only a number names the tasks that their words tell, or count from 0."""
    numbered: dict[str, list[SourceRows]] = {}
    for output in outputs:
        if output.source.kind is Kind.LOG and output.source.worker and _is_numbered(output.source.name):
            numbered.setdefault(output.source.worker, []).append(output)
    named = {r.source.worker for r in outputs if r.source.kind is Kind.LOG} - numbered.keys()
    clusters = _clusters(outputs)
    claims = {worker: _claim(group, clusters) for worker, group in numbered.items()}
    renamed = _stated(claims) or _from_zero(claims, clusters)
    if named & {*renamed.values()}:
        return
    for output in outputs:
        worker = output.source.worker or ""
        if worker in renamed and any(output is each for each in numbered[worker]):
            output.source = output.source._replace(worker=renamed[worker])
        elif output.source.kind is not Kind.LOG:
            _rename(output, renamed)


def _is_numbered(name: str) -> bool:
    """Of a part of a file, what its name says; a launcher's ranks are no guess."""
    whole, _, part = name.rpartition("#")
    return is_numbered(part) and not (whole and part.isdigit())


def _stated(claims: Mapping[str, str | None]) -> Mapping[str, str]:
    """What the words of all say, where no two say the same."""
    stated = {worker: claim for worker, claim in claims.items() if claim}
    return stated if len({*stated.values()}) == len(claims) else {}


def _from_zero(
    claims: Mapping[str, str | None], clusters: Sequence[dict[str, list[str]]]
) -> Mapping[str, str]:
    """Numbers from 1 on without a gap, counted from 0; not where a cluster or any words speak against it."""
    count = len(claims)
    renamed = {f"worker:{n}": f"worker:{n - 1}" for n in range(1, count + 1)}
    sizes = {sum(map(len, cluster.values())) for cluster in clusters}
    against = any(claim and claim != renamed.get(worker) for worker, claim in claims.items())
    return {} if count < 2 or claims.keys() != renamed.keys() or sizes - {count} or against else renamed


def _rename(output: SourceRows, renamed: Mapping[str, str]) -> None:
    """The same for a file that speaks of the workers by these numbers."""
    rows = [row for rows in output.rows.values() for row in rows if row.get("worker")]
    spoken = {row["worker"] for row in rows}
    if spoken and spoken <= renamed.keys() and not spoken <= {*renamed.values()}:
        for row in rows:
            row["worker"] = renamed[row["worker"]]


def _trains(output: SourceRows) -> bool:
    """Whether a log shows what workers print: progress, facts, a traceback, lines of TensorFlow."""
    kinds = {row["kind"] for row in output.rows.get("records", [])}
    progress = any(origin != GAUGE for (origin,) in output.cells("scalars", "origin"))
    return bool(kinds & {"traceback", "cpp"} or progress or "facts" in output.rows)


def _groups(outputs: Iterable[SourceRows]) -> list[list[SourceRows]]:
    groups: dict[str, list[SourceRows]] = {}
    for output in outputs:
        path = PurePosixPath(output.source.name)
        stream = path.stem in {"stdout", "stderr", "out", "err", "output"}
        base = path.as_posix() if "#" in path.name else path.with_suffix("").as_posix()
        groups.setdefault(path.parent.as_posix() if stream else base, []).append(output)
    return list(groups.values())


def _several(group: Iterable[SourceRows], clusters: Sequence[dict[str, list[str]]]) -> bool:
    """Whether several workers wrote into one file without any mark: servers of several tasks started in it.

    A worker that was restarted has the address that it had; where no cluster is known, that must do.
    """
    facts = [row for output in group for row in output.rows.get("facts", [])]
    servers = {row["value"] for row in facts if row["key"] == "server_address"}
    tasks = {task for server in servers for task in _listening(server, clusters)}
    return len(tasks) > 1 or (len(servers) > 1 and not tasks and _start_together(facts))


def _start_together(facts: Sequence[Mapping[str, Any]]) -> bool:
    """Whether two processes are there before the first server is."""
    banners = sorted(row["line"] for row in facts if row["key"] == "process_banner")
    servers = [row["line"] for row in facts if row["key"] == "server_address"]
    return len(banners) > 1 and banners[1] < min(servers)


def _claim(group: Iterable[SourceRows], clusters: Sequence[dict[str, list[str]]]) -> str | None:
    facts = [row for output in group for row in output.rows.get("facts", [])]
    for key in ("task", "own_device"):
        stated = Counter(row["value"] for row in facts if row["key"] == key and is_task(row["value"]))
        if stated:
            return str(stated.most_common(1)[0][0])
    servers = [row["value"] for row in facts if row["key"] == "server_address"]
    return next((task for server in servers for task in _listening(server, clusters)), None)


def _listening(address: str, clusters: Iterable[dict[str, list[str]]]) -> list[str]:
    return [
        f"{role}:{index}"
        for cluster in clusters
        for role, addresses in cluster.items()
        for index, each in enumerate(addresses)
        if each == address
    ]


def _clusters(outputs: Iterable[SourceRows]) -> list[dict[str, list[str]]]:
    specs = {row["value"] for r in outputs for row in r.rows.get("facts", []) if row["key"] == "cluster_spec"}
    return [json.loads(spec) for spec in sorted(specs)]


def _free(taken: Iterable[str | None]) -> str:
    held = set(taken)
    return next(name for index in range(len(held) + 1) if (name := f"worker:{index}") not in held)
