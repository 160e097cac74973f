"""The reports that are shown are those that the code makes."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from tests.recordings import ROOT

pytestmark = pytest.mark.recordings

SHOWCASE = runpy.run_path(str(ROOT / "docs" / "showcase.py"))


@pytest.mark.parametrize("name", SHOWCASE["SHOWN"])
def test_a_shown_report_is_current(name: str) -> None:
    """`python docs/showcase.py` would change nothing."""
    shown = (SHOWCASE["FOLDER"] / f"{name}.html").read_text(encoding="utf-8")
    assert shown == SHOWCASE["report"](name)


def test_no_others_are_shown_and_at_most_six() -> None:
    """A report that nobody makes any more would grow old."""
    assert {path.name for path in SHOWCASE["FOLDER"].iterdir()} == {f"{n}.html" for n in SHOWCASE["SHOWN"]}
    assert len(SHOWCASE["SHOWN"]) <= 6


def test_the_same_bytes_wherever_and_whenever(tmp_path: Path) -> None:
    """Neither the clock, nor the place, nor the order of hashes shows in a report."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "worker-killed").symlink_to(ROOT / "sample_runs" / "worker-killed")
    code = (
        "import sys; from pathlib import Path; from analyzer.pipeline import analyze; "
        "from analyzer.render import render; "
        "sys.stdout.buffer.write(render(analyze([Path(sys.argv[1])]).document, 'html').encode())"
    )
    made = [
        subprocess.run(
            [sys.executable, "-c", code, str(run)],
            env={"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed, "TZ": zone, "PATH": "/usr/bin:/bin"},
            cwd=tmp_path,
            capture_output=True,
            check=True,
        ).stdout
        for run, seed, zone in (
            (ROOT / "sample_runs" / "worker-killed" / "run", "1", "UTC"),
            (tmp_path / "elsewhere" / "worker-killed" / "run", "2", "Asia/Tokyo"),
        )
    ]
    assert made[0] == made[1]
    assert str(ROOT).encode() not in made[0]
