"""What is lost when processes are killed, a disk is full or a clock jumps: at most five seconds of it."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Iterator

import pytest
from recorded import Recorder, output

from mwms_recorder.journal import Journal
from mwms_recorder.outside.stalls import Stalls
from mwms_recorder.progress import FUNCTION, Page, Slot
from mwms_recorder.settings import Settings

MOMENTS = 50
LOST_SECONDS = 5.0
CLOCK = "import time\nwhile True: print(time.time(), flush=True); time.sleep(.01)"
"""A program that prints the time until it is killed."""


@pytest.mark.processes
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_kill_of_everything_loses_five_seconds_at_most(tmp_path: Path) -> None:
    """At 50 random moments: each line but the last can be read, samples and output are that fresh."""
    draw = random.Random(24)
    for number in range(MOMENTS):
        recorder = Recorder(tmp_path / str(number))
        process = recorder.start(sys.executable, "-c", CLOCK, options=["--off", "hook"])
        seconds = draw.uniform(0.0, 1.5)
        time.sleep(seconds)
        os.killpg(process.pid, signal.SIGKILL)
        killed = time.time()
        process.communicate(timeout=30)
        assert lost(tmp_path / str(number), killed) < LOST_SECONDS, seconds


def lost(out: Path, killed: float) -> float:
    """Return the seconds between a kill and the last printed time, and the last event, that were kept."""
    for path in out.rglob("*.jsonl") if out.exists() else ():
        for line in path.read_bytes().split(b"\n")[:-1]:
            json.loads(line)
    kept = [time_of(path) for path in out.rglob("*") if path.name in ("stdout.log", "samples.jsonl")]
    return max([killed - last for last in kept if last], default=0.0)


def time_of(path: Path) -> float | None:
    """Return the last time in a log of times, or in a file of events; None if there is none yet."""
    lines = path.read_bytes().split(b"\n")[:-1]
    if not lines:
        return None
    return float(lines[-1]) if path.suffix == ".log" else float(json.loads(lines[-1])["time"])


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Return a directory on a disk of 256 KiB; skip where none can be mounted."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


@pytest.mark.processes
def test_a_full_disk_costs_the_copy_and_nothing_else(small_disk: Path) -> None:
    """Output and status are those of the command; what was written before can be read."""
    recorder = Recorder(small_disk / "out")
    program = "import sys; sys.stdout.write('x' * 3_000_000); sys.exit(6)"
    done = recorder.run(sys.executable, "-c", program)
    assert (done.returncode, len(done.stdout), done.stderr) == (6, 3_000_000, b"")
    recording = recorder.recording()
    assert recording.last("recording")["command"][-1] == program
    assert (recording.path / "stdout.log").stat().st_size < 3_000_000


@pytest.mark.processes
def test_a_read_only_directory_costs_the_recording_alone(recorder: Recorder) -> None:
    """One line says so; root may not write there either."""
    recorder.out = Path("/proc/mwms-recording")
    done = recorder.run(sys.executable, "-c", "print('trained'); raise SystemExit(5)")
    assert (done.returncode, done.stdout) == (5, b"trained\n")
    named = b"mwms-recorder: not recording: /proc/mwms-recording cannot be written to: "
    assert done.stderr.startswith(named)
    assert b"Errno" not in done.stderr
    assert done.stderr.count(b"\n") == 1


@pytest.mark.processes
def test_the_command_can_be_stopped_and_continued(recorder: Recorder) -> None:
    """Ctrl-Z in a shell, and a cluster that suspends jobs."""
    program = "import time; print('one', flush=True); time.sleep(1); print('two', flush=True)"
    process = recorder.start(sys.executable, "-c", program)
    assert output(process).readline() == b"one\n"
    os.killpg(process.pid, signal.SIGSTOP)
    time.sleep(1.5)
    os.killpg(process.pid, signal.SIGCONT)
    assert output(process).read() == b"two\n"
    assert process.wait(30) == 0


def test_a_clock_that_jumps_is_seen_beside_one_that_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each event has both times, so that a reader can tell a jump from a pause."""
    journal = Journal(str(tmp_path / "recording.jsonl"))
    for now in (2_000_000_000.0, 1_000_000_000.0):
        monkeypatch.setattr(time, "time", lambda now=now: now)
        journal.append("sample")
    before, after = map(json.loads, (tmp_path / "recording.jsonl").read_text().splitlines())
    assert after["time"] - before["time"] == -1e9
    assert 0 <= after["monotonic"] - before["monotonic"] < 5


def test_a_clock_that_jumps_is_no_stall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stalls are told by the clock that does not jump."""
    monkeypatch.setattr(time, "time", lambda: 4_000_000_000.0)
    stalls = Stalls(Settings(str(tmp_path), off=["stacks"]), Journal(str(tmp_path / "r.jsonl")), lambda: None)
    now = 1000.0
    slot = Slot("step", FUNCTION, calls=5, total=5, begin=0, end=int(now * 1e9))
    stalls.look([Page(1, 0, 0, 0, 0, [slot])], now + 1.0)
    assert not (tmp_path / "r.jsonl").exists()
    stalls.look([Page(1, 0, 0, 0, 0, [slot])], now + 61.0)
    assert '"stall"' in (tmp_path / "r.jsonl").read_text()
