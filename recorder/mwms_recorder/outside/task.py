"""Names the task that is recorded, and makes its directory."""

from __future__ import annotations

import json
import os
import re
from typing import Any, Mapping, NamedTuple

RANKS = ("SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "JOB_COMPLETION_INDEX", "RANK")
"""Variables that launchers number their tasks with."""


class Peer(NamedTuple):
    """One task of TF_CONFIG's cluster and its `host:port`."""

    task: str
    address: str


def tf_config(environment: Mapping[str, str]) -> Any:
    """Return TF_CONFIG as JSON, as its text where it is none, None where it is unset."""
    text = environment.get("TF_CONFIG")
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text


def own_task(config: Any) -> tuple[str, str] | None:
    """Return role and index as TF_CONFIG claims them."""
    task = config.get("task") if isinstance(config, dict) else None
    if not isinstance(task, dict) or "type" not in task or "index" not in task:
        return None
    return str(task["type"]), str(task["index"])


def peers(config: Any) -> list[Peer]:
    """Return all tasks of TF_CONFIG's cluster."""
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
    """Number addresses; TF_CONFIG may also map indexes to them."""
    if isinstance(addresses, dict):
        return list(addresses.items())
    return list(enumerate(addresses)) if isinstance(addresses, list) else []


def task_name(environment: Mapping[str, str], chosen: str | None) -> dict[str, str]:
    """Return the task's name and where it comes from."""
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
    """Make the task's directory and return its path; a second recording of one task gets a number.

    Raises:
        OSError: it cannot be made.

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
