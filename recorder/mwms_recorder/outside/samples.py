"""Samples resources and progress, for the observer to record every few seconds."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from typing import Any

from mwms_recorder import progress
from mwms_recorder.host import cgroup, gpus, proc
from mwms_recorder.journal import Journal, masked
from mwms_recorder.progress import Page
from mwms_recorder.settings import Settings


class Sampler:
    """Writes samples of one command and its descendants to `samples.jsonl`."""

    def __init__(self, settings: Settings, pid: int) -> None:
        self.settings, self.pid = settings, pid
        self.journal = Journal(os.path.join(settings.directory, "samples.jsonl"))
        self.files: set[str] = set()
        self.states: Counter[str] = Counter()
        self.queues: list[tuple[int, int]] = []
        """Bytes not sent yet, and not read yet, at each look since the last sample."""
        self.ports: set[int] = set()
        """Ports of TF_CONFIG, to find the connections between workers."""
        self.gpus: gpus.Watch | None = gpus.Watch(settings.interval) if settings.records("gpus") else None

    def pages(self, ended: bool = False) -> list[Page]:
        """Return the progress pages of the command's live Python processes; with `ended`, of all."""
        directory, found = self.settings.pages, []
        with contextlib.suppress(OSError):
            names = [name for name in sorted(os.listdir(directory)) if name.endswith(".page")]
            alive = [name for name in names if ended or proc.alive(int(name[:-5]))]
            found = [progress.read(os.path.join(directory, name)) for name in alive]
        return [page for page in found if page]

    def look(self, pages: list[Page]) -> None:
        """Note the TCP queues, and the state of each Python process or, without any, of the command."""
        if self.ports:
            self.queues.append(proc.queued(self.ports))
        for pid in [page.pid for page in pages] or [self.pid]:
            with contextlib.suppress(ProcessLookupError):
                self.states[proc.stat(pid).state] += 1

    def take(self, pages: list[Page]) -> None:
        """Write one sample."""
        values = {**proc.usage(self.pid), **_machine(), **proc.network(), **_space(self.settings.directory)}
        if self.ports:
            looks, self.queues = [*self.queues, proc.queued(self.ports)], []
            *values["unsent_looks"], values["unsent_bytes"] = (unsent for unsent, _ in looks)
            values["unread_looks"] = [unread for _, unread in looks]
        devices = self.gpus.latest() if self.gpus else []
        steps = [_progress(page) for page in pages]
        states, self.states = dict(self.states), Counter()
        self.journal.append("sample", **values, **_filled(states=states, gpus=devices, progress=steps))
        if self.settings.records("files"):
            self._write_files()

    def _write_files(self) -> None:
        """Write the input files that were not open at an earlier sample."""
        new = sorted(proc.input_files(self.pid) - self.files)[: proc.MAX_FILES - len(self.files)]
        if new:
            self.files.update(new)
            self.journal.append("files", opened=[masked(path) for path in new])


def _filled(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value}


def _machine() -> dict[str, Any]:
    memory, group = proc.memory(), cgroup.read()
    throttled = group.get("cpu_stat", {})
    seconds = throttled.get("throttled_usec", throttled.get("throttled_time", 0) / 1000) / 1e6
    values = {
        "cgroup_bytes": group.get("memory_current_bytes"),
        "throttled_seconds": round(seconds, 3) if throttled else None,
        "memory_available_bytes": memory.get("MemAvailable"),
        "swap_used_bytes": memory.get("SwapTotal", 0) - memory.get("SwapFree", 0),
        "load": round(os.getloadavg()[0], 2),
        "pressure": _pressure(),
    }
    return {name: value for name, value in values.items() if value not in (None, {})}


def _pressure() -> dict[str, float]:
    """Return the percentage of the last 10 s in which some task waited for CPU, memory or I/O (PSI)."""
    lines = {kind: proc.text_of(f"/proc/pressure/{kind}") for kind in ("cpu", "memory", "io")}
    return {
        kind: float(text.split("avg10=")[1].split()[0]) for kind, text in lines.items() if "avg10=" in text
    }


def _space(directory: str) -> dict[str, int]:
    places = {"disk_free_bytes": directory, "shared_memory_free_bytes": "/dev/shm"}  # noqa: S108 - only measured
    found = {}
    for name, path in places.items():
        with contextlib.suppress(OSError):
            space = os.statvfs(path)
            found[name] = space.f_bavail * space.f_frsize
    return found


def _progress(page: Page) -> dict[str, Any]:
    step = page.step()
    phase = progress.PHASES[min(page.phase, progress.OTHER)]
    if not step:
        return {"pid": page.pid, "steps": 0, "phase": phase}
    times = {
        name: round(at / 1e9, 6) or None for name, at in (("last_begin", step.begin), ("last_end", step.end))
    }
    return {
        "pid": page.pid,
        "steps": step.calls,
        "function": step.name,
        "inside": step.inside,
        **times,
        "phase": phase,
        "looks": {name: count for name, count in zip(progress.PHASES, page.looks) if count},
        "generator_looks": page.generator_looks,
    }
