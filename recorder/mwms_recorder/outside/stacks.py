"""Captures the Python stacks of a process with faulthandler or py-spy, and its threads' wait states."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from typing import Any

from mwms_recorder.host import proc
from mwms_recorder.masking import masked
from mwms_recorder.progress import Page

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
    """Return True for the thread that writes the hook's progress."""
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
