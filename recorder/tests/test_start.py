"""A recording that the program starts itself, and how the hook gets into other programs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from recorded import Recorder, interpreters

pytestmark = pytest.mark.processes


@pytest.mark.parametrize("python", interpreters())
def test_a_line_of_code_starts_a_recording(recorder: Recorder, python: str) -> None:
    """The program gets no child to wait for; its death is recorded."""
    program = f"""
import os, signal, time, mwms_recorder
print(mwms_recorder.start({str(recorder.out)!r}, interval=0.5, off=["gpus"]))
try: os.waitpid(-1, os.WNOHANG)
except ChildProcessError: print("no child", flush=True)
time.sleep(2)
os.kill(os.getpid(), signal.SIGKILL)
"""
    command = [python, "-c", program]
    done = subprocess.run(command, capture_output=True, env=recorder.environment(), timeout=60, check=False)
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, b"True\nno child\n")
    (end,) = recorder.until("end", lambda _row: True, count=1, seconds=30)
    assert end["unknown"]
    assert len(recorder.recording().events("sample")) >= 2


def test_the_users_own_sitecustomize_is_loaded(recorder: Recorder, tmp_path: Path) -> None:
    """And the recorder's directory is gone from the search path."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text("print('own sitecustomize')")
    path = os.pathsep.join([str(tmp_path / "site"), recorder.environment()["PYTHONPATH"]])
    program = (
        "import sys; print([p for p in sys.path if 'bootstrap' in p], sys.modules['sitecustomize'].__file__)"
    )
    done = recorder.run(sys.executable, "-c", program, PYTHONPATH=path)
    first, second = done.stdout.decode().splitlines()[-2:]  # the recorder's own interpreter prints it too
    assert first == "own sitecustomize"
    assert second == f"[] {tmp_path / 'site' / 'sitecustomize.py'}"


def test_a_program_without_tensorflow_is_left_alone(recorder: Recorder) -> None:
    """No file of a process, no module of the hook beyond what waits for TensorFlow."""
    program = "import sys; print(sys.exit.__module__, 'mwms_recorder.inside.hook' in sys.modules)"
    done = recorder.run(sys.executable, "-c", program)
    assert done.stdout == b"sys False\n"
    assert not list(recorder.recording().path.glob("process-*"))


def test_a_hook_that_cannot_be_loaded_costs_one_line(recorder: Recorder) -> None:
    """The program runs, and its status is its own."""
    program = (
        "import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', 'raise SystemExit(9)']))"
    )
    done = recorder.run(
        sys.executable, "-c", f"import os; os.environ['MWMS_RECORDER'] = 'no JSON'; {program}"
    )
    assert done.returncode == 9
    assert done.stderr.count(b"recording from outside only") == 1
    assert done.stderr.count(b"\n") == 1


def test_a_command_that_cannot_write_its_pages_costs_one_line(recorder: Recorder, tmp_path: Path) -> None:
    """As one that runs as another user; TensorFlow and Keras are two modules of the hook."""
    for name in ("tensorflow", "keras"):
        (tmp_path / f"{name}.py").write_text("__version__ = '2.21.0'")
    program = """
import json, os, sys
settings = json.loads(os.environ["MWMS_RECORDER"])
os.environ["MWMS_RECORDER"] = json.dumps({**settings, "pages": "/nowhere"})
os.execv(sys.executable, [sys.executable, "-c", "import tensorflow, keras; print('trained')"])
"""
    path = os.pathsep.join([str(tmp_path), recorder.environment()["PYTHONPATH"]])
    done = recorder.run(sys.executable, "-c", program, PYTHONPATH=path)
    assert (done.returncode, done.stdout) == (0, b"trained\n")
    assert done.stderr.count(b"not recorded from inside") == 1
    assert done.stderr.count(b"\n") == 1
