"""What a program computes, prints and returns is the same with the recorder and without it."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Sequence

import pytest
from recorded import Recorder
from scenarios import SCENARIOS

HERE = Path(__file__).resolve().parent
OPTIONS = ("--check-weights", "2", "--fingerprint-data", "--check-finite")
Results = Sequence["tuple[int, bytes]"]


def environment(**variables: str) -> dict[str, str]:
    """Return the environment of a program that nobody records."""
    return {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", **variables}


@lru_cache(maxsize=None)
def scenario_lines(recorded: bool) -> dict[str, list[str]]:
    """Return what each scenario prints, by its name; all run in one process."""
    with TemporaryDirectory() as path:
        recorder = Recorder(Path(path) / "out")
        (Path(path) / "work").mkdir()
        command = [sys.executable, str(HERE / "scenarios.py"), str(Path(path) / "work")]
        if recorded:
            done = recorder.run(*command, options=OPTIONS, seconds=400, CUDA_VISIBLE_DEVICES="")
            assert recorder.recording().events("recorder_failed") == []
            assert recorder.recording().last("finished")["steps"] > 0
        else:
            done = subprocess.run(command, env=environment(), capture_output=True, timeout=400, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    lines = done.stdout.decode().splitlines()
    return {name: [line for line in lines if line.split()[0] == name] for name in SCENARIOS}


@pytest.mark.slow
@pytest.mark.tensorflow
@pytest.mark.processes
@pytest.mark.xdist_group("tensorflow")
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_computes_the_same_bits(name: str) -> None:
    """Losses, weights, results, and the random numbers that are drawn afterwards."""
    with_it, without = scenario_lines(recorded=True)[name], scenario_lines(recorded=False)[name]
    assert len(without) == 2
    assert with_it == without


def free_ports() -> list[int]:
    """Return two ports that nobody listens at."""
    sockets = [socket.socket() for _ in range(2)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def job(kind: str, recorder: Recorder | None) -> Results:
    """Run two workers, and return status and output of each."""
    cluster = {"worker": [f"127.0.0.1:{port}" for port in free_ports()]}
    command = [sys.executable, str(HERE / "two_workers.py"), kind]
    processes = []
    for index in range(2):
        config = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": index}})
        variables = {"TF_CONFIG": config, "CUDA_VISIBLE_DEVICES": ""}
        if recorder:
            processes.append(recorder.start(*command, options=OPTIONS, **variables))
        else:
            pipe, given = subprocess.PIPE, environment(**variables)
            processes.append(subprocess.Popen(command, env=given, stdout=pipe, stderr=pipe))
    outputs = [process.communicate(timeout=300)[0] for process in processes]
    return [(process.returncode, text) for process, text in zip(processes, outputs)]


@pytest.mark.slow
@pytest.mark.tensorflow
@pytest.mark.processes
@pytest.mark.xdist_group("tensorflow")
@pytest.mark.timeout(700)
@pytest.mark.parametrize(("kind", "statuses"), [("trains", [0, 0]), ("raises", [1, 1]), ("exits", [5, 5])])
def test_two_workers_do_the_same(kind: str, statuses: list[int], recorder: Recorder) -> None:
    """Under MultiWorkerMirroredStrategy: losses and weights to the last bit, output and status."""
    without, with_it = job(kind, None), job(kind, recorder)
    assert with_it == without
    assert [status for status, _ in without] == statuses


PROGRAMS = {
    "exec": "import os, sys; os.execv(sys.executable, [sys.executable, '-c', 'print(1); raise SystemExit(3)'])",
    "fork": "import os\npid = os.fork()\nif not pid: os._exit(7)\nprint(os.waitpid(pid, 0)[1])",
    "fork_server": (
        "import multiprocessing as m\n"
        "if __name__ == '__main__':\n"
        "    with m.get_context('forkserver').Pool(2) as pool: print(pool.map(abs, [-1, 2]))"
    ),
    "threads": "import threading\nt = threading.Thread(target=lambda: 1 / 0)\nt.start(); t.join(); print(2)",
    "exit_handlers": "import atexit; atexit.register(print, 'last'); raise SystemExit('a reason')",
    "exit_at_once": "import os; print('lost', end=''); os._exit(9)",
    "abort": "import os; os.write(1, b'x'); os.abort()",
    "own_signals": "import os, signal; signal.signal(15, lambda *_: print('got it')); os.kill(os.getpid(), 15)",
    "terminated": "import os; os.kill(os.getpid(), 15)",
    "recursion": "def f(): f()\nf()",
    "standard_input": "import sys; print(sys.stdin.read())",
}
"""Programs without TensorFlow; the hook is loaded, and has nothing to do."""


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_does_the_same(name: str, recorder: Recorder, tmp_path: Path) -> None:
    """Output, error output and status."""
    path = tmp_path / "program.py"
    path.write_text(PROGRAMS[name])
    command = [sys.executable, str(path)]
    given = environment()
    given.pop("TF_CONFIG", None)
    plain = subprocess.run(command, env=given, capture_output=True, input=b"typed", timeout=60, check=False)
    recorded = recorder.run(*command, typed=b"typed")
    assert recorded.returncode == plain.returncode
    assert (recorded.stdout, recorded.stderr) == (plain.stdout, plain.stderr)


@pytest.mark.slow
@pytest.mark.processes
def test_pytest_does_the_same(recorder: Recorder, tmp_path: Path) -> None:
    """A test that passes and one that fails, with captured output; only the seconds differ."""
    (tmp_path / "test_it.py").write_text("def test_a(): print('hello')\ndef test_b(): assert [1] == [2]\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path / "test_it.py")]
    plain = subprocess.run(command, env=environment(), capture_output=True, timeout=90, check=False)
    recorded = recorder.run(*command)
    settled = [re.sub(rb"in [\d.]+s", b"", done.stdout) for done in (plain, recorded)]
    assert settled[0] == settled[1]
    assert (recorded.returncode, plain.returncode) == (1, 1)
