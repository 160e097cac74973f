"""Reads limits and events of this process's cgroup, version 1 or 2, under the names of version 2."""

from __future__ import annotations

import os
from typing import Any, Iterator

from mwms_recorder.host.proc import text_of

ROOT = "/sys/fs/cgroup"
UNLIMITED = 1 << 60
"""Bytes from which a limit means unlimited: version 1 writes a number near 2^63 for that."""


def read() -> dict[str, Any]:
    """Return version, path, limits, use and events of the cgroup; unknown values are left out."""
    groups = dict(_groups())
    if os.path.exists(f"{ROOT}/cgroup.controllers"):
        path = groups.get("", "/")
        return {"version": 2, "path": path, **_known(_version_2(_directory(ROOT, path)))}
    path = groups.get("memory", "/")
    memory = _directory(f"{ROOT}/memory", path)
    cpu = _directory(f"{ROOT}/cpu", groups.get("cpu", "/"))
    return {"version": 1, "path": path, **_known(_version_1(memory, cpu))}


def _groups() -> Iterator[tuple[str, str]]:
    """Yield (controller, path of the cgroup); the controller is an empty string in version 2."""
    for line in text_of("/proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        yield from ((controller, path) for controller in controllers.split(","))


def _directory(mount: str, path: str) -> str:
    """Return the directory of the cgroup's files: in a container, usually the mount point itself."""
    own = mount + path.rstrip("/")
    return own if os.path.isdir(own) else mount


def _version_2(at: str) -> dict[str, Any]:
    return {
        "memory_max_bytes": _limit(f"{at}/memory.max"),
        "memory_current_bytes": _number(f"{at}/memory.current"),
        "memory_peak_bytes": _number(f"{at}/memory.peak"),
        "swap_max_bytes": _limit(f"{at}/memory.swap.max"),
        "cpu_quota_cores": _quota(text_of(f"{at}/cpu.max").split()),
        "pids_max": _limit(f"{at}/pids.max"),
        "memory_events": _counters(f"{at}/memory.events"),
        "memory_events_local": _counters(f"{at}/memory.events.local"),
        "cpu_stat": _counters(f"{at}/cpu.stat"),
    }


def _version_1(memory: str, cpu: str) -> dict[str, Any]:
    control, events = _counters(f"{memory}/memory.oom_control"), {}
    if "oom_kill" in control:
        events = {"oom_kill": control["oom_kill"], "max": _number(f"{memory}/memory.failcnt") or 0}
    return {
        "memory_max_bytes": _limit(f"{memory}/memory.limit_in_bytes"),
        "memory_current_bytes": _number(f"{memory}/memory.usage_in_bytes"),
        "memory_peak_bytes": _number(f"{memory}/memory.max_usage_in_bytes"),
        "cpu_quota_cores": _quota(
            [text_of(f"{cpu}/cpu.cfs_{part}_us").strip() for part in ("quota", "period")]
        ),
        "memory_events": events,
        "cpu_stat": _counters(f"{cpu}/cpu.stat"),
    }


def _known(read: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in read.items() if value not in (None, {})}


def _number(path: str) -> int | None:
    text = text_of(path).strip()
    return int(text) if text.isdigit() else None


def _limit(path: str) -> int | None:
    number = _number(path)
    return number if number is not None and number < UNLIMITED else None


def _quota(fields: list[str]) -> float | None:
    """Return the CPU quota in cores; None if unlimited (`max` or -1)."""
    if len(fields) != 2 or not (fields[0].isdigit() and fields[1].isdigit()):
        return None
    return round(int(fields[0]) / int(fields[1]), 3)


def _counters(path: str) -> dict[str, int]:
    rows = (line.split() for line in text_of(path).splitlines())
    return {row[0]: int(row[1]) for row in rows if len(row) == 2 and row[1].isdigit()}
