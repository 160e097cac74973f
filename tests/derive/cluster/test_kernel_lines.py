"""Which lines of kernel logs concern a worker, and which one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from analyzer.derive.cluster.kernel_lines import HOST, PROCESS, TIME, kernel_lines
from analyzer.tables.builders import frame
from analyzer.tables.kernel_times import RunTimes

END = 1_795_225_237.0
KILLED = "[Sat Nov 21 01:40:37 2026] Out of memory: Killed process 4711 ({}) total-vm:81234512kB"
XID = "[Sat Nov 21 01:40:37 2026] NVRM: Xid (PCI:0000:3b:00): 79, pid=911, GPU has fallen off the bus."
LOGS = {"worker:0": "node7/worker.log", "worker:1": "node12/worker.log"}
TWO_ON_A_HOST = {"worker:0": "node7/a.log", "worker:1": "node12/b.log", "worker:2": "node12/c.log"}
LOST = {"worker:0": "aborted_by_peer", "worker:1": "vanished", "worker:2": "aborted_by_peer"}


def told(
    lines: Sequence[tuple[str, str, float]],
    logs: Mapping[str, str] = LOGS,
    hosts: Mapping[str, str] = {},
    facts: Sequence[Mapping[str, str]] = (),
) -> list[tuple[str | None, str | None]]:
    """The worker of each line of `(file, text, seconds from the end)`, and why it concerns none."""
    own = [
        {"source": log, "kind": "log", "worker": worker, "first_time": END - 600, "last_time": END}
        for worker, log in logs.items()
    ]
    kernel = [{"source": source, "kind": "log"} for source in dict.fromkeys(source for source, _, _ in lines)]
    tables = {"sources": frame("sources", [*own, *kernel]), "facts": frame("facts", facts)}
    workers = frame("workers", [{"worker": each, "host": hosts.get(each)} for each in logs])
    lives = frame("lifetimes", [{"worker": each, "trains": True, "ended": LOST[each]} for each in logs])
    times = RunTimes(tables["sources"], frame("records", []), frame("scalars", []))
    rows = [
        {"source": source, "line": number, "excerpt": text, "time": END + after}
        for number, (source, text, after) in enumerate(lines, 1)
    ]
    found = kernel_lines({**tables, "matches": frame("matches", rows)}, workers, lives, times)
    assert all(line.kernel_log for line in found)
    return [(line.worker, line.foreign) for line in found]


@pytest.mark.parametrize(
    ("source", "line", "expected"),
    [
        ("dmesg-node12.txt", KILLED.format("python3"), ("worker:1", None)),
        ("node12/dmesg.txt", KILLED.format("python3"), ("worker:1", None)),
        ("dmesg-node12.txt", KILLED.format("java"), (None, PROCESS)),
        ("dmesg-node7.txt", KILLED.format("python3"), (None, HOST)),
        ("dmesg-node99.txt", KILLED.format("python3"), (None, HOST)),
        ("dmesg-node1.txt", KILLED.format("python3"), (None, HOST)),
        ("dmesg.txt", KILLED.format("python3"), (None, None)),
        ("dmesg-storage.txt", KILLED.format("python3"), (None, None)),
        ("dmesg-2026-11-21.txt", KILLED.format("python3"), (None, None)),
        ("dmesg-node7.txt", XID, ("worker:0", None)),
        ("dmesg-node99.txt", XID, (None, HOST)),
        ("kern.log", "Nov 21 01:40:37 node12 kernel: " + XID[27:], ("worker:1", None)),
        ("kern.log", "Nov 21 01:40:37 node99 kernel: " + XID[27:], (None, HOST)),
    ],
)
def test_a_line_is_of_the_worker_on_its_host(
    source: str, line: str, expected: tuple[str | None, str | None]
) -> None:
    """A kill is of the worker that fell silent there; a name unlike those of the workers' hosts tells nothing."""
    assert told([(source, line, 0.0)]) == [expected]


@pytest.mark.parametrize(("seconds", "expected"), [(0.0, None), (-3 * 86_400.0, TIME), (10 * 86_400.0, TIME)])
def test_a_line_of_another_time_concerns_nobody(seconds: float, expected: str | None) -> None:
    """A device that failed days before has been reset, or was another job's."""
    assert told([("dmesg-node7.txt", XID, seconds)])[0][1] == expected


def test_of_several_workers_on_a_host_the_kill_is_of_the_lost_one() -> None:
    """A fault of a device may be of any of them."""
    lines = [("dmesg-node12.txt", KILLED.format("python"), 0.0), ("dmesg-node12.txt", XID, 0.0)]
    assert told(lines, TWO_ON_A_HOST) == [("worker:1", None), (None, None)]


def test_the_scheduler_names_the_host() -> None:
    """The logs are named by the workers."""
    logs = {"worker:0": "worker-0.log", "worker:1": "worker-1.log"}
    hosts = {"worker:0": "gpu-a07.example", "worker:1": "gpu-a12.example"}
    lines = [
        (f"dmesg-{host}.txt", KILLED.format("python"), 0.0) for host in ("gpu-a12", "gpu-a07", "gpu-a30")
    ]
    assert told(lines, logs, hosts) == [("worker:1", None), (None, HOST), (None, HOST)]
    assert told(lines, logs) == [(None, None)] * 3


def test_who_asked_for_memory_is_not_who_was_killed() -> None:
    """The lines above the kill belong to it."""
    asked = "[Sat Nov 21 01:40:37 2026] python invoked oom-killer: gfp_mask=0x1100cca, order=0"
    lines = [("dmesg-node12.txt", text, 0.0) for text in (asked, KILLED.format("java"), asked)]
    assert told(lines) == [(None, PROCESS), (None, PROCESS), ("worker:1", None)]


def test_a_process_that_a_worker_states_is_its_own() -> None:
    """Whatever its name and whatever the host; `train.par` is what the recorder started."""
    facts = [
        {"worker": "worker:0", "key": "process_id", "value": "4711"},
        {"worker": "worker:1", "key": "recorded_command", "value": "/opt/bin/train.par --epochs 3"},
    ]
    lines = [
        ("dmesg.txt", KILLED.format("worker-main"), 0.0),
        ("dmesg-node12.txt", KILLED.format("train.par").replace("4711", "99"), 0.0),
    ]
    assert told(lines, facts=facts) == [("worker:0", None), ("worker:1", None)]


def test_other_logs_are_left_alone() -> None:
    """A line of the kernel in a worker's own log is that worker's."""
    tables = {"sources": frame("sources", []), "facts": frame("facts", [])}
    times = RunTimes(tables["sources"], frame("records", []), frame("scalars", []))
    row = {"worker": "worker:3", "source": "worker-3.log", "line": 1, "excerpt": KILLED.format("java")}
    tables["matches"] = frame("matches", [row])
    [line] = kernel_lines(tables, frame("workers", []), frame("lifetimes", []), times)
    assert (line.worker, line.kernel_log, line.foreign) == ("worker:3", False, None)
