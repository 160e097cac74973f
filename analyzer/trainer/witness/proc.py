"""Reads the state of processes from `/proc`; for an ended process, results are empty."""

from __future__ import annotations

import os
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def command_line(pid: int) -> tuple[str, ...]:
    """Return the arguments that a process was started with."""
    return tuple(_read(pid, "cmdline").split("\0")[:-1])


def environment(pid: int) -> dict[str, str]:
    """Return the environment that a process was started with."""
    pairs = (entry.partition("=") for entry in _read(pid, "environ").split("\0") if entry)
    return {name: value for name, _, value in pairs}


def program(pid: int) -> str:
    """Return the path of a process's executable."""
    try:
        return str(Path(f"/proc/{pid}/exe").readlink())
    except OSError:
        return ""


def status(pid: int, key: str) -> str:
    """Return a value of `/proc/PID/status`, such as `SigIgn`."""
    lines = (line.partition(":") for line in _read(pid, "status").splitlines())
    return next((value.strip() for name, _, value in lines if name == key), "")


def state(pid: int) -> str:
    """Return the state of a process as one letter: R, S, T (stopped), Z (zombie) and others."""
    return status(pid, "State")[:1]


def has_signal(pid: int, mask: str, number: int) -> bool:
    """Return True if a signal is in a mask (SigIgn, SigCgt, ShdPnd) of `/proc/PID/status`."""
    return bool(int(status(pid, mask) or "0", 16) >> (number - 1) & 1)


def seconds_computed(pid: int) -> float:
    """Return the processor time of a process in seconds, user and kernel mode together."""
    fields = _read(pid, "stat").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS if fields else 0.0


def family(pid: int) -> list[int]:
    """Return the IDs of a process and its descendants."""
    found = [pid]
    for one in found:
        found += [int(child) for child in _read(one, f"task/{one}/children").split()]
    return found


def offset_in(pid: int, path: Path) -> int:
    """Return the largest offset at which a process or a descendant has a file open; 0 if none has."""
    offsets = [0]
    for one in family(pid):
        for name in _open_as(one, str(path)):
            info = _read(one, f"fdinfo/{name}")
            offsets += [int(line.split()[1]) for line in info.splitlines() if line.startswith("pos:")]
    return max(offsets)


def _open_as(pid: int, path: str) -> list[str]:
    """Return the file descriptors under which a process has a path open."""
    try:
        return [link.name for link in Path(f"/proc/{pid}/fd").iterdir() if _target(link) == path]
    except OSError:
        return []


def _target(link: Path) -> str:
    try:
        return os.readlink(link)  # noqa: PTH115 - faster, and called at every poll
    except OSError:
        return ""


def waits_for_lock(pid: int, path: Path) -> bool:
    """Return True if a process is blocked on a file lock that another process holds."""
    inode = path.stat().st_ino
    for line in Path("/proc/locks").read_text().splitlines():
        words = line.split()
        if words[1] == "->" and int(words[5]) == pid and int(words[6].rpartition(":")[2]) == inode:
            return True
    return False


def _read(pid: int, name: str) -> str:
    try:
        return Path(f"/proc/{pid}/{name}").read_text(errors="replace")
    except OSError:
        return ""
