"""Ctrl-C ends at once, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.recordings import ROOT

ERROR = "2026-11-21 01:40:37.754266: E tensorflow/core/common_runtime/ring_alg.cc:290] Aborting with UNAVAILABLE: x\n"
STEPS = "".join(f"step {n} loss 0.{n:05d}\n" for n in range(1, 40))
pytestmark = [pytest.mark.processes, pytest.mark.xdist_group("interrupt")]

PRESSED = """
import os, signal, sys
event, name, first = sys.argv.pop(1), sys.argv.pop(1), os.getpid()
pressed = []

def hear(heard, arguments):
    if heard == event and name in str(arguments[:1]) and os.getpid() == first and not pressed:
        pressed.append(True)
        os.killpg(0, signal.SIGINT)

sys.addaudithook(hear)
from analyzer.__main__ import process
process()
"""
"""An analysis in which Ctrl-C is pressed as soon as something happens for the first time."""
SLOW = """
import sys, time
from pathlib import Path
from analyzer.cli import targets
from analyzer.cli.analyze import main

chmod = Path.chmod  # the last thing that is done to a draft

def pause(path, mode):
    if path.parent.name != "out":  # an entry of the cache
        return chmod(path, mode)
    print("writing", flush=True)
    time.sleep(3600)

Path.chmod = pause
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 80 MB, one of its logs in an archive."""
    run = tmp_path_factory.mktemp("large") / "run"
    run.mkdir()
    text = (STEPS + ERROR) * 20_000
    for worker in range(4):
        (run / f"worker-{worker}.log").write_text(text, encoding="utf-8")
    with tarfile.open(run / "worker-4.tar.gz", "w:gz", compresslevel=1) as tar:
        tar.add(run / "worker-3.log", "worker-4.log")
    return run


def start(code: list[str], run: Path, folder: Path) -> subprocess.Popen[str]:
    """An analysis that writes into a directory, with a directory for what is temporary."""
    (folder / "out").mkdir()
    (folder / "temporary").mkdir()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder / "temporary")}
    command = [sys.executable, *code, str(run), "-o", f"{folder / 'out'}/", "--format", "html,json"]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=folder,
        start_new_session=True,
    )


def left(folder: Path) -> list[str]:
    """What lies in either directory."""
    return [path.name for path in folder.rglob("*") if path.is_file() or "mwms" in path.name]


@pytest.mark.parametrize(
    ("event", "name"),
    [
        ("import", "analyzer.ingest"),
        ("open", "worker-4.tar.gz"),
        ("open", "worker-2.log"),
        ("import", "polars"),
        ("import", "analyzer.derive"),
    ],
)
def test_while_it_reads(event: str, name: str, large: Path, tmp_path: Path) -> None:
    """While modules are loaded, the archive is unpacked, and logs are read."""
    process = start(["-c", PRESSED, event, name], large, tmp_path)
    said = process.communicate()[1]
    assert process.returncode in {130, -signal.SIGINT}, "a shell says 130 of both"
    assert said in {"", "mwms-analyze: interrupted\n"}
    assert left(tmp_path) == []


def test_an_interrupt_that_python_swallows_comes_again() -> None:
    """As it does where the key is pressed in one of the callbacks that an import calls."""
    code = """
import sys, time, weakref
from analyzer.cli.terminal.entrypoint import run_command

def press(_):
    raise KeyboardInterrupt

def work():
    held = {1}
    reference = weakref.ref(held, press)
    del held
    time.sleep(3600)

sys.exit(run_command("test", work))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stderr) == (130, "test: interrupted\n")


def test_while_it_writes(tmp_path: Path) -> None:
    """The draft goes, and no report is there."""
    process = start(["-c", SLOW], ROOT / "sample_runs" / "worker-killed" / "run", tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    process.send_signal(signal.SIGINT)
    said = process.communicate()[1]
    assert (process.returncode, said) == (130, "mwms-analyze: interrupted\n")
    assert left(tmp_path) == []
