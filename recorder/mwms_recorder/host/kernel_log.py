"""Reads lines about killed processes and failed devices from the kernel log, if readable."""

from __future__ import annotations

import os
import re

from mwms_recorder.masking import masked

_TELLING = re.compile(
    r"[Oo]ut of memory|oom-kill|oom_reaper|Killed process|segfault"
    r"|general protection|NVRM: Xid|Hardware Error|I/O error"
)
MAX_LINES, MAX_READS = 40, 20_000


def kernel_lines(since: float) -> list[str]:
    """Return the last 40 lines on kills and device errors since a monotonic time; empty if unreadable."""
    try:
        log = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return []
    found: list[str] = []
    try:
        for _ in range(MAX_READS):
            line = os.read(log, 8192).decode("utf-8", "replace")
            head, _, text = line.partition(";")
            if _TELLING.search(text) and int(head.split(",")[2]) / 1e6 >= since:
                found.append(masked(text.strip()))
    except OSError:
        pass  # the end, or lines that were overwritten meanwhile
    finally:
        os.close(log)
    return found[-MAX_LINES:]
