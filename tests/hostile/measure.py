"""Runs the analyzer on a run in a process of its own, and measures what that process and its children used."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
MAX_ADDRESS_SPACE_BYTES = 16 << 30
"""Limit of a case that has no bound at all, so that the test ends before the machine does."""
_LAUNCHER = """
import json, os, resource, sys
cpu, space, *command = sys.argv[1:]
pid = os.fork()
if not pid:
    resource.setrlimit(resource.RLIMIT_CPU, (int(cpu), int(cpu) + 1))
    resource.setrlimit(resource.RLIMIT_AS, (int(space), int(space)))
    os.execv(command[0], command)
_, status, used = os.wait4(pid, 0)
code = os.waitstatus_to_exitcode(status)
print(json.dumps([code, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024]))
"""
"""A small process that forks the analyzer: a child's peak memory begins with that of its parent."""


class Usage(NamedTuple):
    """What one analysis left and used."""

    status: int
    """Exit status; negative if a signal ended it."""
    cpu_seconds: float
    peak_bytes: int
    """Largest resident memory of one of its processes."""
    output: str


def analyzed(run: Path, report: Path, cpu_limit: int, options: Sequence[str] = ()) -> Usage:
    """Analyze a run, writing JSON and HTML below the directory `report`; the kernel ends a process after `cpu_limit` seconds."""
    command = [
        sys.executable,
        "-m",
        "analyzer",
        str(run),
        "--format",
        "json,html",
        "-o",
        str(report),
        *options,
    ]
    limits = [str(cpu_limit), str(MAX_ADDRESS_SPACE_BYTES)]
    launched = [sys.executable, "-S", "-E", "-c", _LAUNCHER, *limits, *command]
    done = subprocess.run(launched, cwd=ROOT, capture_output=True, text=True, check=False)
    *output, last = done.stdout.splitlines()
    status, cpu_seconds, peak_bytes = json.loads(last)
    return Usage(status, cpu_seconds, peak_bytes, "\n".join([*output, done.stderr]))
