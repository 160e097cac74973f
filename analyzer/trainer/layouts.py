"""Writes the output of workers as log collectors store it: kubectl, Docker, journald and others.

Each layout is a pure function from lines with their arrival times to files. The caller compresses files whose
name ends with `.gz`.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    Layout = Callable[[Sequence["Line"], "Job"], Iterator[tuple[str, bytes]]]

_ROTATED_PARTS = 3


class Job(NamedTuple):
    """What collectors call a job: its name, its number at the scheduler, and its hosts if they have names."""

    name: str = "mnist"
    number: int = 48213
    hosts: tuple[str, ...] = ()


class Chunk(NamedTuple):
    """Output of one worker (name as in file names: `worker-1`) and its arrival in Unix seconds."""

    task: int
    worker: str
    time: float
    content: bytes


class Line(NamedTuple):
    """One line without its line end, with the worker's index and name, and its arrival in Unix seconds."""

    task: int
    worker: str
    time: float
    text: bytes


def lines_of(chunks: Iterable[Chunk]) -> list[Line]:
    """Return the lines of all workers in the order of their completion; incomplete lines come last."""
    pending: dict[int, Line] = {}
    lines = []
    for index, worker, time, content in chunks:
        begun = pending[index].text if index in pending else b""
        *complete, rest = (begun + content).split(b"\n")
        lines += [Line(index, worker, time, text) for text in complete]
        pending[index] = Line(index, worker, time, rest)
    return lines + [line for line in pending.values() if line.text]


def files_of(layout: str, lines: Sequence[Line], job: Job) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of each file that a layout makes of the lines."""
    return WRAPPED[layout](lines, job)


def _joined(name: str, lines: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    yield name, b"".join(line + b"\n" for line in lines)


def _srun(lines: Sequence[Line], job: Job) -> Iterator[tuple[str, bytes]]:
    """Yield one file like the output of `srun -l`, with the task's rank before each line."""
    return _joined(f"slurm-{job.number}.out", (b"%d: %s" % (line.task, line.text) for line in lines))


def _compose(lines: Sequence[Line], _: Job) -> Iterator[tuple[str, bytes]]:
    """Yield one file like the output of `docker compose logs`, with the container's name before each line."""
    return _joined(
        "docker-compose.log", (b"%s-1  | %s" % (line.worker.encode(), line.text) for line in lines)
    )


def _slurm_tasks(lines: Sequence[Line], job: Job) -> Iterator[tuple[str, bytes]]:
    """Yield a file for each task, like those of `srun -o slurm-%j-%t.out`."""
    for _, own in _by_worker(lines):
        yield from _joined(f"slurm-{job.number}-{own[0].task}.out", (line.text for line in own))


def _kubectl(lines: Sequence[Line], job: Job) -> Iterator[tuple[str, bytes]]:
    """Yield one file like the output of `kubectl logs -l … --prefix`: all lines of a pod, then the next."""
    by_pod = (line for _, own in _by_worker(lines) for line in own)
    return _joined(
        "train.log", (f"[pod/{_pod(line, job)}/tensorflow] ".encode() + line.text for line in by_pod)
    )


def _docker_json(lines: Sequence[Line], job: Job) -> Iterator[tuple[str, bytes]]:
    """Yield a file for each container like Docker's json-file driver: one JSON object per line."""
    for worker, own in _by_worker(lines):
        entries = ({"log": _text(line) + "\n", "stream": "stderr", "time": _iso(line.time)} for line in own)
        container = hashlib.sha256(f"{job.number}{worker}".encode()).hexdigest()
        yield from _joined(f"{worker}/{container}-json.log", (json.dumps(each).encode() for each in entries))


def _cloud_logging(lines: Sequence[Line], job: Job) -> Iterator[tuple[str, bytes]]:
    """Yield one file like `gcloud logging read --format json` on GKE: an array, newest entry first."""
    entries = [_cloud_entry(number, line, job) for number, line in enumerate(lines) if line.text.strip()]
    yield "cloud-logging.json", json.dumps(entries[::-1], indent=1).encode() + b"\n"


def _cloud_entry(number: int, line: Line, job: Job) -> dict[str, object]:
    payload = _json_object(line.text)
    return {
        "insertId": f"{number:016x}",
        **({"jsonPayload": payload} if payload else {"textPayload": _text(line)}),
        "resource": {
            "type": "k8s_container",
            "labels": {
                "cluster_name": "training",
                "namespace_name": "research",
                "pod_name": _pod(line, job),
                "container_name": "tensorflow",
            },
        },
        "severity": "ERROR",  # the agent's default for standard error, which TensorFlow writes to
        "timestamp": _iso(line.time),
        "receiveTimestamp": _iso(line.time + 1.0),
        "logName": "projects/example/logs/stderr",
    }


def _journald(lines: Sequence[Line], job: Job) -> Iterator[tuple[str, bytes]]:
    """Yield one file with the `journalctl -o short-iso-precise` lines of all hosts, by time."""
    return _joined(
        "journal.txt", (_journal_head(line, job).encode() + line.text for line in lines if line.text)
    )


def _journal_head(line: Line, job: Job) -> str:
    at = datetime.fromtimestamp(line.time, UTC)
    host = job.hosts[line.task] if job.hosts else f"node-{line.task + 11}"
    return f"{at:%Y-%m-%dT%H:%M:%S.%f}+0000 {host} {job.name}-{line.worker}[{4711 + line.task}]: "


def _rotated(lines: Sequence[Line], _: Job) -> Iterator[tuple[str, bytes]]:
    """Yield the parts of each log as logrotate leaves them, older ones compressed and with higher numbers."""
    for worker, own in _by_worker(lines):
        size = -(-len(own) // _ROTATED_PARTS)
        parts = [own[start : start + size] for start in range(0, len(own), size)]
        for age, part in enumerate(reversed(parts)):
            yield from _joined(
                f"{worker}.log.{age}.gz" if age else f"{worker}.log", (line.text for line in part)
            )


def _by_worker(lines: Sequence[Line]) -> list[tuple[str, list[Line]]]:
    groups: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        groups[line.worker].append(line)
    return sorted(groups.items(), key=lambda group: group[1][0].task)


def _pod(line: Line, job: Job) -> str:
    return f"{job.name}-{line.worker}-{hashlib.sha256(line.worker.encode()).hexdigest()[:5]}"


def _text(line: Line) -> str:
    return line.text.decode("utf-8", "replace")


def _iso(time: float) -> str:
    return f"{datetime.fromtimestamp(time, UTC):%Y-%m-%dT%H:%M:%S.%f}000Z"


def _json_object(text: bytes) -> dict[str, object] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


WRAPPED: Mapping[str, Layout] = {
    "srun": _srun,
    "compose": _compose,
    "slurm_tasks": _slurm_tasks,
    "kubectl": _kubectl,
    "docker_json": _docker_json,
    "cloud_logging": _cloud_logging,
    "journald": _journald,
    "rotated": _rotated,
}
