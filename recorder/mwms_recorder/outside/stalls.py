"""Detects processes that make no more steps, and captures their stacks twice: by faulthandler or py-spy."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections import deque
from typing import Any, Callable, Sequence

from mwms_recorder.host import proc
from mwms_recorder.journal import Journal, masked
from mwms_recorder.progress import OTHER, PHASES, Page
from mwms_recorder.settings import Settings

STEPS_WITHOUT_PROGRESS = 20
"""Duration without a step, in median steps, from which a process counts as stalled."""
SECOND_CAPTURE_SECONDS = 15.0
REMEMBERED_STEPS = 500


class Process:
    """Recent step durations (seconds) and stall of one process."""

    def __init__(self) -> None:
        self.calls = self.end = self.captures = 0
        self.steps: deque[float] = deque(maxlen=REMEMBERED_STEPS)
        self.stalled_at: float | None = None
        """Monotonic time at which the stall was noticed."""
        self.idle_since = 0.0

    def follow(self, page: Page) -> None:
        """Record the mean duration of the steps since the last call."""
        step = page.step()
        if step and step.calls > self.calls:
            if self.calls and step.end > self.end:
                self.steps.append((step.end - self.end) / 1e9 / (step.calls - self.calls))
            self.calls, self.end = step.calls, step.end

    def threshold(self, least: float) -> float:
        """Return after how many seconds without progress the process counts as stalled, `least` or more."""
        return max(least, STEPS_WITHOUT_PROGRESS * median(self.steps)) if self.steps else least


def median(values: Sequence[float]) -> float:
    """Return the median, the upper one of an even number; `statistics` would take 5 ms to import."""
    return sorted(values)[len(values) // 2]


class Stalls:
    """Watches the progress pages of the command's processes for stalls."""

    def __init__(self, settings: Settings, journal: Journal, probe_peers: Callable[[], object]) -> None:
        self.settings, self.journal, self.probe_peers = settings, journal, probe_peers
        self.processes: dict[int, Process] = {}
        self.warned = False
        self.begin: float | None = None
        """Monotonic time of the first look; infinite once a missing TensorFlow was reported."""

    def look(self, pages: list[Page], now: float) -> None:
        """Record stalls that begin, last or end, of processes with steps or, if none has any, of all."""
        self._warn_unwatched(pages, now)
        for page in [page for page in pages if page.steps()] or pages:
            process = self.processes.setdefault(page.pid, Process())
            process.follow(page)
            idle = now - page.last_sign() / 1e9
            if idle < process.threshold(self.settings.stall):
                self._resume(page, process)
            elif process.stalled_at is None:
                self._begin(page, process, now, idle)
            elif process.captures == 1 and now - process.stalled_at >= SECOND_CAPTURE_SECONDS:
                self._capture(page, process)

    def _warn_unwatched(self, pages: list[Page], now: float) -> None:
        """Print once that no stall can be noticed, if nothing imported TensorFlow within `stall` seconds."""
        self.begin = now if self.begin is None else self.begin
        if pages or not self.settings.records("hook") or now - self.begin < self.settings.stall:
            return
        self.begin = float("inf")
        sys.stderr.write(
            f"mwms-recorder: TensorFlow was not imported within {self.settings.stall:.0f} s; "
            "until it is, a hang is not noticed and no stacks are kept\n"
        )
        sys.stderr.flush()

    def _begin(self, page: Page, process: Process, now: float, idle: float) -> None:
        process.stalled_at, process.idle_since = now, now - idle
        step = page.step()
        self.journal.append(
            "stall",
            pid=page.pid,
            steps=process.calls,
            seconds=round(idle, 3),
            threshold=round(process.threshold(self.settings.stall), 3),
            median_step=round(median(process.steps), 6) if process.steps else None,
            phase=PHASES[min(page.phase, OTHER)],
            **({"function": step.name, "inside": step.inside} if step else {}),
        )
        self._warn(process, idle)
        self._capture(page, process)
        self.probe_peers()

    def _warn(self, process: Process, idle: float) -> None:
        """Print a stall to stderr, once, and only after a step, as a job may be slow to start."""
        if process.calls and not self.warned:
            self.warned = True
            line = f"no training step for {idle:.0f} s after step {process.calls}; see {self.journal.path}"
            sys.stderr.write(f"mwms-recorder: {line}\n")
            sys.stderr.flush()

    def _capture(self, page: Page, process: Process) -> None:
        process.captures += 1
        if self.settings.records("stacks"):
            self.journal.append(
                "stacks", pid=page.pid, capture=process.captures, **stacks(page, self.settings.pages)
            )

    def _resume(self, page: Page, process: Process) -> None:
        if process.stalled_at is not None:
            seconds = round(page.last_sign() / 1e9 - process.idle_since, 3)
            self.journal.append("resumed", pid=page.pid, steps=process.calls, seconds=seconds)
            process.stalled_at, process.captures = None, 0


_THREAD = re.compile(r"(?:Current thread|Thread) 0x([0-9a-f]+)(?: \[(.*?)\])?")
_FRAME = re.compile(r'  File "(.*)", line (\d+) in (.*)')
_TICKS = os.path.join("mwms_recorder", "inside", "ticks.py")
MAX_FRAMES = 60
ANSWER_SECONDS, PY_SPY_SECONDS = 2.0, 20.0


def stacks(page: Page, pages: str) -> dict[str, Any]:
    """Return the stacks of a process, their source, and its threads' states and kernel wait functions."""
    waits = proc.waits(page.pid)
    text = _by_faulthandler(page, pages)
    if text:
        return {"source": "faulthandler", "threads": threads_of(text, page.main_thread), "waits": waits}
    text = _by_py_spy(page.pid)
    return {"source": "py-spy", "text": text, "waits": waits} if text else {"source": "none", "waits": waits}


def _by_faulthandler(page: Page, pages: str) -> str:
    """Signal the process to write its stacks, and return the text; empty without handler or answer."""
    path = os.path.join(pages, f"{page.pid}.stacks")
    if not page.stack_signal or not proc.catches(page.pid, page.stack_signal):
        return ""
    before = len(proc.text_of(path))
    os.kill(page.pid, page.stack_signal)
    ends, text = time.monotonic() + ANSWER_SECONDS, ""
    while time.monotonic() < ends:
        time.sleep(0.1)
        text, last = proc.text_of(path)[before:], text
        if text and text == last:
            break
    return text


def threads_of(text: str, main_thread: int) -> list[dict[str, Any]]:
    """Return the threads in faulthandler's output with their frames, innermost last."""
    threads: list[dict[str, Any]] = []
    for line in text.splitlines():
        thread, frame = _THREAD.match(line), _FRAME.match(line)
        if thread:
            ident = int(thread[1], 16)
            name = {"name": thread[2]} if thread[2] else {}
            threads.append({"id": hex(ident), "main": ident == main_thread, **name, "frames": []})
        elif frame and threads and len(threads[-1]["frames"]) < MAX_FRAMES:
            place = {"file": frame[1], "line": int(frame[2]), "function": frame[3]}
            threads[-1]["frames"].insert(0, place)
    return [thread for thread in threads if not _is_own(thread["frames"])]


def _is_own(frames: list[dict[str, Any]]) -> bool:
    """Return True for the stack of the recorder's own thread in the training process."""
    return bool(frames) and frames[0]["file"].endswith(_TICKS)


def _by_py_spy(pid: int) -> str:
    program = shutil.which("py-spy")
    if not program:
        return ""
    command = [program, "dump", "--nonblocking", "--pid", str(pid)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=PY_SPY_SECONDS, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return masked(done.stdout.decode("utf-8", "replace"))
