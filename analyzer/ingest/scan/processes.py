"""Manages forked child processes and the memory that they share with their parent."""

import mmap
import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple


class Region(NamedTuple):
    """Offset and length of some bytes in a shared file."""

    start: int
    length: int


def can_fork() -> bool:
    """Return whether this process can fork safely and has more than one core to use.

    A process with threads must not: a lock that another thread holds is never released in the copy.
    """
    with suppress(OSError, AttributeError):
        threads = [*Path("/proc/self/task").iterdir()]
        return hasattr(os, "memfd_create") and core_count() > 1 and len(threads) == 1
    return False


def core_count() -> int:
    """Return the number of cores that this process may run on."""
    return len(os.sched_getaffinity(0))


def shared_array(length: int) -> memoryview:
    """Return an array of unsigned 64-bit integers (at least one) that forked children share."""
    return memoryview(mmap.mmap(-1, 8 * max(1, length))).cast("Q")


def append(file: int, data: bytes) -> Region:
    """Append bytes to a file, given by its descriptor, and return the region that they occupy."""
    start, rest = os.lseek(file, 0, os.SEEK_CUR), memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]
    return Region(start, len(data))


def child_is_running(child: int) -> bool:
    """Return whether a child of this process runs, without reaping it."""
    with suppress(ChildProcessError):  # the system reaps all children itself
        return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    return False


def is_running(process: int) -> bool:
    """Return whether the process with this id runs, be it a child of this one or not."""
    try:
        state = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()[0]
    except OSError:
        return False
    return state not in {b"Z", b"X"}


def reap(child: int) -> None:
    """Wait for the end of a child."""
    with suppress(ChildProcessError):
        os.waitpid(child, 0)
