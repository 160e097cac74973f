"""Temporary directories of killed processes are removed by the next run, those in use never."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from analyzer.storage.scratch import ScratchDirectory

pytestmark = pytest.mark.processes

HOLD = """
import sys
from pathlib import Path
from analyzer.storage.scratch import ScratchDirectory
scratch = ScratchDirectory()
Path(scratch.name, "worker-0.log").write_text("step 1\\n")
print(scratch.name, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def _own_temporary_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def hold_a_directory(folder: Path) -> tuple[subprocess.Popen[str], Path]:
    """A process with a scratch directory that looks an hour old."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD],
        env={**os.environ, "TMPDIR": str(folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    scratch = Path(process.stdout.readline().strip())
    os.utime(scratch, (1, 1))
    return process, scratch


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    """An unpacked archive can be of many gigabytes."""
    process, left = hold_a_directory(tmp_path)
    process.kill()
    process.communicate()
    assert left.is_dir()
    with ScratchDirectory():
        assert not left.exists()


def test_a_directory_in_use_stays(tmp_path: Path) -> None:
    """Its process runs, however old the directory is."""
    process, used = hold_a_directory(tmp_path)
    with ScratchDirectory():
        assert used.is_dir()
    process.communicate("")
    assert not used.exists()
