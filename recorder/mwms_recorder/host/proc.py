"""Reads processes, threads, memory and network counters from /proc, and the kernel's log."""

from __future__ import annotations

import contextlib
import os
import re
from collections import Counter
from stat import S_IWUSR
from typing import Any, Iterator, NamedTuple

from mwms_recorder.journal import masked, masked_command

TICKS = os.sysconf("SC_CLK_TCK")
KERNEL = ("/dev/", "/proc/", "/sys/", "/memfd:")
"""Prefixes of paths that are not data files."""
CODE = re.compile(r"/(?:site|dist)-packages/|\.(?:pyc?|so)(?:\.[\d.]+)?$")
PAGE = os.sysconf("SC_PAGE_SIZE")
_TELLING = re.compile(
    r"[Oo]ut of memory|oom-kill|oom_reaper|Killed process|segfault"
    r"|general protection|NVRM: Xid|Hardware Error|I/O error"
)
MAX_LINES, MAX_READS = 40, 20_000
MAX_FILES = 100
"""Number of input files of a command that are recorded."""


class ProcessStat(NamedTuple):
    """State, processor time (seconds) and resident memory (bytes) of a process at one moment."""

    parent: int
    state: str
    cpu_seconds: float
    threads: int
    resident_bytes: int


def text_of(path: str) -> str:
    """Return the text of a file; empty if it cannot be read."""
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""


def stat(pid: int) -> ProcessStat:
    """Return the current state and resources of a process.

    Raises:
        ProcessLookupError: there is no such process.
    """
    fields = text_of(f"/proc/{pid}/stat").rpartition(")")[2].split()
    if not fields:
        raise ProcessLookupError(pid)
    cpu = (int(fields[11]) + int(fields[12])) / TICKS
    return ProcessStat(int(fields[1]), fields[0], cpu, int(fields[17]), int(fields[21]) * PAGE)


def alive(pid: int) -> bool:
    """Return True if a process exists and is not a zombie."""
    try:
        return stat(pid).state not in "ZX"
    except ProcessLookupError:
        return False


def family(pid: int) -> Iterator[int]:
    """Yield the IDs of a process and its descendants."""
    yield pid
    for task in _listed(f"/proc/{pid}/task"):
        for child in text_of(f"/proc/{pid}/task/{task}/children").split():
            yield from family(int(child))


def usage(pid: int) -> dict[str, Any]:
    """Return the summed resources of a process and its descendants; empty if all have ended."""
    total: Counter[str] = Counter()
    cpu = waited = 0.0
    for member in family(pid):
        with contextlib.suppress(ProcessLookupError):
            now = stat(member)
            cpu += now.cpu_seconds
            waited += _waited(member)
            total.update(processes=1, threads=now.threads, resident_bytes=now.resident_bytes)
            total.update(open_files=len(_listed(f"/proc/{member}/fd")), **_io(member))
    if not total:
        return {}
    waits = {"cpu_wait_seconds": round(waited, 2)} if waited else {}
    return {**total, "cpu_seconds": round(cpu, 2), **waits}


def _waited(pid: int) -> float:
    """Return the seconds that the threads of a process were ready to run while others had the processors."""
    states = [text_of(f"/proc/{pid}/task/{task}/schedstat").split() for task in _listed(f"/proc/{pid}/task")]
    return sum(int(state[1]) for state in states if len(state) > 1) / 1e9


def input_files(pid: int) -> set[str]:
    """Return the files, except program code, that a process or a descendant has open for reading only."""
    return {path for member in family(pid) for path in _read_only(f"/proc/{member}/fd")}


def _read_only(descriptors: str) -> Iterator[str]:
    for number in _listed(descriptors):
        link = f"{descriptors}/{number}"
        with contextlib.suppress(OSError):
            path, writable = os.readlink(link), os.lstat(link).st_mode & S_IWUSR
            if not writable and os.path.isfile(link) and not (path.startswith(KERNEL) or CODE.search(path)):
                yield path


def _io(pid: int) -> dict[str, int]:
    numbers = dict(line.split(": ") for line in text_of(f"/proc/{pid}/io").splitlines())
    names = {"read_bytes": "disk_read_bytes", "write_bytes": "disk_written_bytes"}
    return {names[name]: int(value) for name, value in numbers.items() if name in names}


def network() -> dict[str, int]:
    """Return bytes received and sent (without loopback), and TCP segments sent and retransmitted."""
    rows = [line.split(":") for line in text_of("/proc/net/dev").splitlines()[2:]]
    counts = [[int(field) for field in row[1].split()] for row in rows if row[0].strip() != "lo"]
    tcp = [line.split() for line in text_of("/proc/net/snmp").splitlines() if line.startswith("Tcp:")]
    counted = dict(zip(*tcp)) if len(tcp) == 2 else {}
    names = {"OutSegs": "segments", "RetransSegs": "retransmits"}
    totals = {"received_bytes": sum(row[0] for row in counts), "sent_bytes": sum(row[8] for row in counts)}
    return {**totals, **{names[name]: int(value) for name, value in counted.items() if name in names}}


def queued(ports: set[int]) -> tuple[int, int]:
    """Return the bytes in the send queues (unsent or unacknowledged) and receive queues (unread) of ports."""
    rows = (
        line.split() for name in ("tcp", "tcp6") for line in text_of(f"/proc/net/{name}").splitlines()[1:]
    )
    own = [row[4].split(":") for row in rows if ports & {_port(row[1]), _port(row[2])}]
    return sum(int(sent, 16) for sent, _ in own), sum(int(unread, 16) for _, unread in own)


def _port(address: str) -> int:
    return int(address.rpartition(":")[2], 16)


def memory() -> dict[str, int]:
    """Return the values of /proc/meminfo by name, in bytes."""
    rows = (line.split() for line in text_of("/proc/meminfo").splitlines())
    return {row[0].rstrip(":"): int(row[1]) * 1024 for row in rows if len(row) == 3}


def described(pid: int) -> dict[str, Any]:
    """Return a process's masked command line, its user ID and the names of its ancestors."""
    command = text_of(f"/proc/{pid}/cmdline").rstrip("\0").split("\0")
    known = {"pid": pid, "command": " ".join(masked_command(command))[:500]}
    with contextlib.suppress(OSError):
        known["uid"] = os.stat(f"/proc/{pid}").st_uid
    return {**known, "parents": list(_parents(pid))[:8]}


def _parents(pid: int) -> Iterator[str]:
    with contextlib.suppress(ProcessLookupError):
        while pid > 1:
            pid = stat(pid).parent
            yield text_of(f"/proc/{pid}/comm").strip()


def waits(pid: int) -> list[dict[str, Any]]:
    """Return the threads of a process, counted by name, state and kernel function they wait in."""
    found = Counter(_wait(pid, task) for task in _listed(f"/proc/{pid}/task"))
    return [
        {"name": name, "state": state, **({"wchan": wchan} if wchan else {}), "count": count}
        for (name, state, wchan), count in found.most_common(50)
    ]


def _wait(pid: int, task: str) -> tuple[str, str, str]:
    name, _, rest = text_of(f"/proc/{pid}/task/{task}/stat").partition("(")[2].rpartition(")")
    wchan = text_of(f"/proc/{pid}/task/{task}/wchan")
    return name, (rest.split() or ["?"])[0], "" if wchan == "0" else wchan


def catches(pid: int, number: int) -> bool:
    """Return True if a process has a handler for a signal."""
    for line in text_of(f"/proc/{pid}/status").splitlines():
        if line.startswith("SigCgt:"):
            return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    return False


def _listed(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except OSError:
        return []


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
