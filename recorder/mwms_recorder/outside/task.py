"""Names the recorded task, creates its directory, and defines what supervisor and observer share."""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from typing import Any, Mapping, NamedTuple

RANKS = ("SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "JOB_COMPLETION_INDEX", "RANK")
"""Environment variables in which launchers give the rank of a task."""


class Peer(NamedTuple):
    """One task of TF_CONFIG's cluster as `role:index`, and its `host:port`."""

    task: str
    address: str


def tf_config(environment: Mapping[str, str]) -> Any:
    """Return the parsed TF_CONFIG; its text if it is invalid JSON, None if it is unset."""
    text = environment.get("TF_CONFIG")
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text


def own_task(config: Any) -> tuple[str, str] | None:
    """Return role and index of this task from the parsed TF_CONFIG; None if it has none."""
    task = config.get("task") if isinstance(config, dict) else None
    if not isinstance(task, dict) or "type" not in task or "index" not in task:
        return None
    return str(task["type"]), str(task["index"])


def peers(config: Any) -> list[Peer]:
    """Return all tasks of the cluster in the parsed TF_CONFIG; empty if it has none."""
    cluster = config.get("cluster") if isinstance(config, dict) else None
    if not isinstance(cluster, dict):
        return []
    return [
        Peer(f"{role}:{index}", address)
        for role, addresses in cluster.items()
        for index, address in _numbered(addresses)
        if isinstance(address, str)
    ]


def _numbered(addresses: Any) -> list[tuple[Any, Any]]:
    """Return (index, address) pairs of a list, or of a mapping as TF_CONFIG may have."""
    if isinstance(addresses, dict):
        return list(addresses.items())
    return list(enumerate(addresses)) if isinstance(addresses, list) else []


def task_name(environment: Mapping[str, str], chosen: str | None) -> dict[str, str]:
    """Return the name of this task, and its source: argument, TF_CONFIG, a launcher's variable or host."""
    if chosen:
        return {"task": _safe(chosen), "task_from": "argument"}
    claimed = own_task(tf_config(environment))
    if claimed:
        return {"task": _safe("-".join(claimed)), "task_from": "TF_CONFIG"}
    for variable in RANKS:
        if environment.get(variable, "").isdigit():
            return {"task": f"rank-{environment[variable]}", "task_from": variable}
    return {"task": _safe(os.uname().nodename), "task_from": "host"}


def make_directory(out: str, task: str) -> str:
    """Create the task's directory and return its path; further recordings of a task get a number.

    Raises:
        OSError: the directory cannot be created.
    """
    os.makedirs(out, exist_ok=True)
    for number in range(1, 10_000):
        path = os.path.join(out, task if number == 1 else f"{task}.{number}")
        try:
            os.mkdir(path)
        except FileExistsError:
            continue
        return path
    raise OSError(f"{out} holds 9,999 recordings of {task}")


def _safe(name: str) -> str:
    return re.sub(r"[^\w.-]", "_", name)[:100] or "task"


SCHEMA = "mwms-recording/1"
DRAINED = b"D"
"""Message of the observer: all output up to the command's end is forwarded and written."""


class Link(NamedTuple):
    """The observer's ends of the two pipes to and from the supervisor, as file descriptors."""

    reader: int
    writer: int


def make_pages() -> str:
    """Create the directory for progress pages, in memory so that counting never waits for a disk.

    Raises:
        OSError: the directory cannot be created.
    """
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else os.environ.get("TMPDIR", "/tmp")  # noqa: S108
    path = os.path.join(memory, f"mwms-recorder-{os.getpid()}-{time.time_ns()}")
    os.mkdir(path, 0o700)
    return path


def remove_pages(path: str) -> None:
    """Remove the directory of progress pages; errors are ignored."""
    with contextlib.suppress(OSError):
        for name in os.listdir(path):
            os.unlink(os.path.join(path, name))
        os.rmdir(path)
