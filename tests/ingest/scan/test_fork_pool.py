"""Large logs are read by forked processes; whatever becomes of those, nothing of a log is lost.

A process with threads must not fork, and this one has some: each test has a process of its own.
"""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

MIDDLE = "".join(f"2026-11-21 01:00:{n % 60:02d}.5 step {n} loss {1 / (n + 1):.6f}\n" for n in range(30_000))
HANGS_AFTER = 240
"""Seconds; less than what pytest gives a test, so that its processes are ended."""
BEGIN = """
import os, signal, sys, time
from pathlib import Path
import analyzer.ingest as ingest
from analyzer.discover import discover
from analyzer.ingest.scan import fork_pool, scan_plan
from analyzer.model.messages import Messages
from analyzer.model.run import Pattern

scan_plan.LARGE_LOG_BYTES = 10_000
fork_pool.POLL_SECONDS = 0.001
fork_pool.MIN_PART_BYTES = fork_pool.BLOCK_BYTES
fork_pool.core_count = lambda: 4
first, reads = os.getpid(), ingest.read_source

def run(watch=None, warm_up=None):
    patterns = [Pattern("lost/peer", ("Socket closed",), None)]
    tables = ingest.ingest(discover([Path(sys.argv[1])]), patterns, Messages(()), watch, warm_up)
    return {name: table.rows() for name, table in tables.items()}

def said():
    while len(list(others())) < fork_pool.core_count():
        time.sleep(0.01)
    print(*others(), flush=True)

def others():
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        try:
            state, parent, _, session = Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(session) == first != int(pid) and (state != "Z" or int(parent) == first):
            yield pid

def gone():
    while list(others()):
        time.sleep(0.01)
"""

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(
        not hasattr(os, "memfd_create") or len(os.sched_getaffinity(0)) < 2,
        reason="no second core to fork to",
    ),
]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Four logs, the largest of which is cut short, and one of which cannot be read."""
    logs = [f"step 0 loss {n}\n{MIDDLE}Socket closed {n}\n{MIDDLE * n}".encode() for n in range(4)]
    for n, log in enumerate(logs):
        (tmp_path / f"worker-{n}.log").write_bytes(log)
    (tmp_path / "worker-4.log.gz").write_bytes(b"\x1f\x8bno" + bytes(100_000))
    return tmp_path


def begun(run: Path, program: str) -> subprocess.Popen[str]:
    """A process of its own that goes through a run."""
    command: Sequence[str] = [sys.executable, "-c", BEGIN + program, str(run)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True)


def ended(run: Path, program: str) -> str:
    """What it prints."""
    with begun(run, program) as process:
        printed, complaint = process.communicate(timeout=HANGS_AFTER)
    assert process.returncode == 0, complaint
    return printed.strip()


def test_beside_as_in_turn(run: Path) -> None:
    """The same tables, and all bytes are counted, none twice; a log has several readers."""
    program = """
assert fork_pool.can_fork()
look, calls = fork_pool.scan_part, []
def noted(log, part, *given):
    Path(sys.argv[1]).with_name(f"{log.name} {part.start} {os.getpid()}").touch()
    time.sleep(0.01)
    return look(log, part, *given)
fork_pool.scan_part = noted
tables = run(lambda *call: calls.append(call[1]))
assert not fork_pool.can_fork()  # polars is here, with its threads
assert tables == run() and len(tables["matches"]) == 4
sizes = [path.stat().st_size for path in Path(sys.argv[1]).iterdir()]
assert calls == sorted(calls) and calls[-1] == sum(sizes), (calls, sizes)
assert len({row[0] for row in tables["sources"] if "skipped" in row}) == 1
"""
    ended(run, program)
    parts = [path.name.split() for path in run.parent.glob("worker-3.log *")]
    assert len({start for _, start, _ in parts}) == len(parts) > 4
    assert len({reader for _, _, reader in parts}) > 1


def test_one_log_that_a_launcher_marked_has_several_readers_too(tmp_path: Path) -> None:
    """And one that cannot be read at any place has one."""
    lines = [f"[1,{n % 2}]<stdout>:step {n} loss {1 / (n + 1):.6f}\n" for n in range(60_000)]
    (tmp_path / "job.log").write_text("".join(lines) + "[1,1]<stderr>:Socket closed\n")
    (tmp_path / "more.log.gz").write_bytes(gzip.compress("".join(lines).encode()))
    program = """
tables = run()
assert tables == run() and len(tables["matches"]) == 1
"""
    ended(tmp_path, program)


def test_small_logs_are_read_in_groups(tmp_path: Path) -> None:
    """None of them by the process that waits, which reads what makes no group."""
    for n in range(7):
        (tmp_path / f"worker-{n}.log").write_text(f"step 0 loss {n}\nSocket closed {n}\n")
    program = """
scan_plan.LARGE_LOG_BYTES = 3 * scan_plan._BYTES_PER_LOG
here = []
def noted(matcher, log, *given, **more):
    here.append(log.name)
    return reads(matcher, log, *given, **more)
ingest.read_source = noted
tables = run()
assert here == ["worker-6.log"], here
assert tables == run() and len(tables["matches"]) == 7
"""
    ended(tmp_path, program)


@pytest.mark.parametrize("end", ["os.kill(os.getpid(), signal.SIGKILL)", "os._exit(0)", "raise MemoryError"])
def test_a_reader_that_dies_is_no_loss(end: str, run: Path) -> None:
    """Its logs are read by the process that waits for them."""
    program = f"""
def dies(matcher, log, *given, **more):
    if os.getpid() != first and log.name in ("worker-0.log", "worker-3.log"):
        {end}
    return reads(matcher, log, *given, **more)
ingest.read_source = dies
assert len(run()["matches"]) == 4
gone()
"""
    ended(run, program)


def test_a_part_that_cannot_be_read_is_said(run: Path) -> None:
    """Of such a log nothing is told, as where it is read in a row."""
    program = """
import errno
look = fork_pool.scan_part
def broken(log, part, *given):
    if log.name == "worker-3.log" and part.start:
        raise OSError(errno.EIO, "Input/output error")
    return look(log, part, *given)
fork_pool.scan_part = broken
(row,) = [row for row in run()["sources"] if row[0] == "worker-3.log"]
assert "cannot be read: Input/output error" in row and "skipped" in row
"""
    ended(run, program)


@pytest.mark.parametrize("room", [0, 1])
def test_no_room_for_processes_is_no_loss(room: int, run: Path) -> None:
    """The logs are read in turn then, or by the one process that there is room for."""
    program = f"""
fork = os.fork
def full():
    if os.getpid() != first or not {room}:
        raise BlockingIOError("no more processes")
    return fork()
os.fork = full
def waiting():
    assert len(list(others())) == {room}
assert len(run(warm_up=waiting)["matches"]) == 4
gone()
"""
    ended(run, program)


@pytest.mark.parametrize("which", [0, 1, 3])
def test_readers_that_die_at_their_beginning_are_no_loss(which: int, run: Path) -> None:
    """Whether it is the one that splits off the others, or one of those."""
    program = f"""
split = fork_pool.ForkPool._fork_others
def dies(self):
    number, others = split(self)
    if number == {which}:
        os.kill(os.getpid(), signal.SIGKILL)
    return number, others
fork_pool.ForkPool._fork_others = dies
assert len(run()["matches"]) == 4
gone()
"""
    ended(run, program)


def test_an_interruption_leaves_nobody_behind(run: Path) -> None:
    """Nor does any other error of the process that waits."""
    program = """
def slow(*given, **more):
    time.sleep(60 * (os.getpid() != first))
ingest.read_source = slow
def interrupted():
    said()
    raise KeyboardInterrupt
try:
    run(warm_up=interrupted)
except KeyboardInterrupt:
    gone()
"""
    ended(run, program)


def test_readers_end_when_nobody_waits(run: Path) -> None:
    """The process that split them off was killed, and could tell them nothing."""
    program = """
look = fork_pool.scan_part
def endless(*given):
    while True:
        look(*given)
fork_pool.scan_part = endless
run(warm_up=said)
"""
    process = begun(run, program)
    assert process.stdout
    readers = process.stdout.readline().split()
    assert readers
    process.kill()
    process.wait()
    process.stdout.close()
    while any(map(_alive, readers)):
        time.sleep(0.05)


def _alive(pid: str) -> bool:
    try:
        state = Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_process_with_threads_is_not_fork_others(run: Path) -> None:
    """What they have locked would stay so in the copy."""
    program = """
import threading
over = threading.Event()
thread = threading.Thread(target=over.wait)
thread.start()
assert not fork_pool.can_fork()
assert len(run()["matches"]) == 4
over.set()
thread.join()
"""
    ended(run, program)


def test_an_interrupt_of_the_terminal_ends_all_at_once(run: Path) -> None:
    """It goes to readers too, and none of them has anything to say."""
    program = """
def slow(*given, **more):
    time.sleep(60)
ingest.read_source = slow
run(warm_up=said)
"""
    with begun(run, program) as process:
        assert process.stdout
        process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        _, complaint = process.communicate(timeout=HANGS_AFTER)
    assert complaint.count("Traceback (most recent call last)") == 1
    assert complaint.rstrip().endswith("KeyboardInterrupt")
