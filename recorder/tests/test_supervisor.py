"""The command behaves as without the recorder, and the recording says how it ended."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from recorded import Recorder, interpreters, output


def wait_for(path: Path, text: str) -> None:
    """Wait until a file holds a text."""
    for _ in range(400):
        if path.exists() and text in path.read_text():
            return
        time.sleep(0.05)
    raise AssertionError(f"{path} never held {text!r}")


@pytest.mark.processes
@pytest.mark.parametrize("python", interpreters())
def test_streams_and_status_pass_through(recorder: Recorder, python: str) -> None:
    """Bytes of both streams and the exit code are those of the command; logs hold the same bytes."""
    program = "import os, sys; os.write(1, bytes(range(256)) * 4000); os.write(2, b'no newline'); sys.exit(7)"
    command = [python, "-m", "mwms_recorder", "run", "-o", str(recorder.out), "--", python, "-c", program]
    done = subprocess.run(command, capture_output=True, env=recorder.environment(), timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (7, bytes(range(256)) * 4000, b"no newline")
    recording = recorder.recording()
    assert (recording.path / "stdout.log").read_bytes() == done.stdout
    assert (recording.path / "stderr.log").read_bytes() == done.stderr
    assert recording.last("end")["exit_code"] == 7


@pytest.mark.processes
def test_one_file_for_both_streams_keeps_their_order(recorder: Recorder, tmp_path: Path) -> None:
    """`2>&1` goes through one pipe."""
    program = "import os\nfor i in range(2000): os.write(1 + i % 2, b'%d ' % i)"
    with (tmp_path / "both").open("wb") as both:
        command = recorder.command(sys.executable, "-c", program)
        subprocess.run(command, stdout=both, stderr=both, env=recorder.environment(), timeout=60, check=True)
    assert (tmp_path / "both").read_text().split() == [str(i) for i in range(2000)]
    recording = recorder.recording()
    assert recording.last("recording")["streams"] == {"stdout": "stdout.log", "stderr": "stdout.log"}


@pytest.mark.processes
def test_a_terminal_stays_a_terminal(recorder: Recorder) -> None:
    """A program that is started at a terminal still sees one, of the same size, and no byte is changed."""
    ours, theirs = pty.openpty()
    program = "import os; print(os.isatty(1), os.get_terminal_size(1) == os.get_terminal_size(0), flush=True)"
    command = recorder.command(sys.executable, "-c", program)
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, env=recorder.environment()
    )
    assert process.wait(60) == 0
    assert os.read(ours, 100) == b"True True\r\n"
    os.close(ours)
    os.close(theirs)
    assert (recorder.recording().path / "stdout.log").read_bytes() == b"True True\n"


@pytest.mark.processes
@pytest.mark.parametrize("name", ["SIGSEGV", "SIGKILL", "SIGABRT", "SIGTERM"])
def test_death_by_a_signal_passes_through(recorder: Recorder, name: str) -> None:
    """The supervisor dies of the signal that the command died of."""
    number = getattr(signal, name)
    done = recorder.run(sys.executable, "-c", f"import os; os.kill(os.getpid(), {number})")
    assert done.returncode == -number
    end = recorder.recording().last("end")
    assert (end["exit_code"], end["signal"], end["asked"]) == (None, {"number": number, "name": name}, False)


@pytest.mark.processes
def test_a_signal_is_forwarded_once_and_its_sender_named(recorder: Recorder) -> None:
    """SIGTERM to the supervisor alone reaches the command once; the recording says who sent it."""
    program = (
        "import signal, time; got = []; signal.signal(signal.SIGTERM, lambda n, f: got.append(n))\n"
        "print('ready', flush=True)\n"
        "while not got: time.sleep(.01)\n"
        "time.sleep(.3); raise SystemExit(10 + len(got))"
    )
    process = recorder.start(sys.executable, "-c", program)
    assert output(process).readline() == b"ready\n"
    process.terminate()
    assert process.wait(30) == 11
    sent = recorder.recording().last("signal")
    assert sent["signal"] == {"number": 15, "name": "SIGTERM"}
    assert sent["delivery"] == "forwarded"
    assert sent["sender"]["pid"] == os.getpid()
    assert recorder.recording().last("end")["asked"]


@pytest.mark.processes
def test_a_signal_to_the_process_group_is_not_delivered_twice(recorder: Recorder) -> None:
    """The command has a signal already that was sent to the whole group."""
    program = (
        "import signal, time; got = []; signal.signal(signal.SIGUSR1, lambda n, f: got.append(n))\n"
        "print('ready', flush=True)\n"
        "while not got: time.sleep(.01)\n"
        "time.sleep(.5); raise SystemExit(10 + len(got))"
    )
    process = recorder.start(sys.executable, "-c", program)
    assert output(process).readline() == b"ready\n"
    wait_for(recorder.recording().path / "recording.jsonl", '"facts"')
    os.killpg(process.pid, signal.SIGUSR1)
    assert process.wait(30) == 11
    assert recorder.recording().last("signal")["delivery"] == "group"


@pytest.mark.processes
def test_a_missing_command_ends_like_in_a_shell(recorder: Recorder) -> None:
    """127, and a line that names it."""
    done = recorder.run("no-such-command-here")
    assert done.returncode == 127
    assert b"no-such-command-here" in done.stderr


@pytest.mark.processes
def test_where_nothing_can_be_written_the_command_runs(recorder: Recorder, tmp_path: Path) -> None:
    """A directory that cannot be made costs the recording, one line, and nothing else."""
    recorder.out = tmp_path / "file" / "out"
    (tmp_path / "file").write_text("")
    done = recorder.run(sys.executable, "-c", "print('trained'); raise SystemExit(5)")
    assert (done.returncode, done.stdout) == (5, b"trained\n")
    assert done.stderr.count(b"\n") == 1
    assert b"not recording" in done.stderr


@pytest.mark.processes
def test_a_full_disk_does_not_reach_the_command(recorder: Recorder) -> None:
    """Output passes through unchanged when its copy cannot be written; no file is longer than the limit."""
    limited = ["/bin/sh", "-c", 'ulimit -f 20; exec "$@"', "sh"]
    program = "import sys; sys.stdout.write('x' * 1_000_000); sys.exit(6)"
    command = [*limited, *recorder.command(sys.executable, "-c", program)]
    done = subprocess.run(command, capture_output=True, env=recorder.environment(), timeout=60, check=False)
    assert (done.returncode, len(done.stdout)) == (6, 1_000_000)
    recording = recorder.recording()
    copied = (recording.path / "stdout.log").stat().st_size
    gaps = recording.events("stream_gap")
    assert copied + sum(gap["bytes"] for gap in gaps) == 1_000_000
    assert gaps
    assert recording.last("end")["exit_code"] == 6


@pytest.mark.processes
def test_a_reader_that_leaves_is_seen_by_the_command(recorder: Recorder) -> None:
    """`| head -1` ends a program that goes on printing."""
    program = "import itertools\nfor i in itertools.count(): print(i, flush=True)"
    process = recorder.start(sys.executable, "-c", program)
    output(process).readline()
    output(process).close()
    assert process.wait(30) == 1
    assert process.stderr
    assert b"BrokenPipeError" in process.stderr.read()


@pytest.mark.processes
def test_the_command_goes_on_when_the_supervisor_is_killed(recorder: Recorder, tmp_path: Path) -> None:
    """Its output still reaches log and reader, and the recording says what nobody learned."""
    program = f"import time; print('one', flush=True); time.sleep(2); print('two', flush=True); open({str(tmp_path / 'done')!r}, 'w').close()"
    process = recorder.start(sys.executable, "-c", program)
    assert output(process).readline() == b"one\n"
    process.kill()
    assert output(process).read() == b"two\n"
    wait_for(recorder.recording().path / "recording.jsonl", '"end"')
    assert (tmp_path / "done").exists()
    assert recorder.recording().events("supervisor_lost")
    assert recorder.recording().last("end")["unknown"]


@pytest.mark.processes
def test_the_command_goes_on_when_the_observer_is_killed(recorder: Recorder) -> None:
    """Another one takes its place."""
    process = recorder.start(
        sys.executable, "-c", "import time; print('one', flush=True); time.sleep(2); print('two')"
    )
    assert output(process).readline() == b"one\n"
    wait_for(recorder.recording().path / "stdout.log", "one\n")
    os.kill(recorder.recording().last("recording")["observer_pid"], signal.SIGKILL)
    assert output(process).read() == b"two\n"
    assert process.wait(30) == 0
    assert (recorder.recording().path / "stdout.log").read_bytes() == b"one\ntwo\n"


@pytest.mark.processes
def test_a_second_recording_of_a_task_gets_a_directory_of_its_own(recorder: Recorder) -> None:
    """A restart, or a second task of the same name, overwrites nothing."""
    config = json.dumps({"cluster": {"worker": ["localhost:1"]}, "task": {"type": "worker", "index": 0}})
    for _ in range(2):
        recorder.run("true", TF_CONFIG=config)
    assert sorted(path.name for path in recorder.out.iterdir()) == ["worker-0", "worker-0.2"]


@pytest.mark.processes
def test_notebooks_are_refused_with_a_reason(recorder: Recorder) -> None:
    """A kernel outlives the jobs that it runs."""
    done = recorder.run("jupyter", "lab")
    assert done.returncode == 1
    assert b"notebook" in done.stderr
