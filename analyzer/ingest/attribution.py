"""Which worker a log belongs to when its name does not tell.

The log's own words decide: the task it says it is, the device strings of its errors, the address its server
listens on. A worker's log that says nothing gets the next free index, and a fact `attributed` that says so.
A log beside those of workers that shows nothing of a training, as one of the kernel, is no worker's.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from analyzer.ingest.readings import Reading
from analyzer.model import Kind
from analyzer.naming import is_task
from analyzer.schema import GAUGE


def attribute(readings: Sequence[Reading]) -> None:
    """Give every log without a worker one; logs of one directory that name none belong together."""
    nameless = [r for r in readings if r.source.kind is Kind.LOG and r.source.worker is None and r.rows]
    taken = {r.source.worker for r in readings if r.source.worker}
    named = {r.source.worker for r in readings if r.source.kind is Kind.LOG and r.source.worker}
    clusters = _clusters(readings)
    for group in _groups(nameless):
        if named and not any(_trains(reading) for reading in group):
            continue
        claimed = _claim(group, clusters)
        worker = claimed if claimed and claimed not in taken else _free(taken)
        taken.add(worker)
        for reading in group:
            reading.source = reading.source._replace(worker=worker)
            if worker != claimed:
                reading.add("facts", line=1, key="attributed", value="by the order of the files")


def _trains(reading: Reading) -> bool:
    """Whether a log shows what workers print: progress, facts, a traceback, lines of TensorFlow."""
    kinds = {row["kind"] for row in reading.rows.get("records", [])}
    progress = any(row["origin"] != GAUGE for row in reading.rows.get("scalars", []))
    return bool(kinds & {"traceback", "cpp"} or progress or "facts" in reading.rows)


def _groups(readings: Iterable[Reading]) -> list[list[Reading]]:
    groups: dict[str, list[Reading]] = {}
    for reading in readings:
        path = PurePosixPath(reading.source.name)
        stream = path.stem in {"stdout", "stderr", "out", "err", "output"}
        base = path.with_suffix("").as_posix()
        groups.setdefault(path.parent.as_posix() if stream else base, []).append(reading)
    return list(groups.values())


def _claim(group: Iterable[Reading], clusters: Sequence[dict[str, list[str]]]) -> str | None:
    facts = [row for reading in group for row in reading.rows.get("facts", [])]
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


def _clusters(readings: Iterable[Reading]) -> list[dict[str, list[str]]]:
    specs = {
        row["value"] for r in readings for row in r.rows.get("facts", []) if row["key"] == "cluster_spec"
    }
    return [json.loads(spec) for spec in sorted(specs)]


def _free(taken: Iterable[str | None]) -> str:
    held = set(taken)
    return next(name for index in range(len(held) + 1) if (name := f"worker:{index}") not in held)
