"""The page on speed says what was measured, and its inputs are the same wherever they are made."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import page
from benchmarks.inputs import write_events, write_logs
from benchmarks.measure import ratio, sample
from benchmarks.speed import LITERALS, MEASURED

MADE = {
    "chatty": "5754d47d39c1",
    "bars": "19783e73b66e",
    "quiet": "38580585f644",
    "cpp": "1b2e029a2ed8",
    "python logging": "9355473ba5ed",
    "cloud": "580d98fff48f",
    "structlog": "329ff746e390",
    "repeated error": "c225524c70a2",
    "caught tracebacks": "f269a31e5fd0",
    "absl": "c19be44e3777",
    "tqdm": "e67ba60b5bae",
    "non-ASCII": "b73ee1a80b78",
    "long lines": "69f8083d66ff",
    "interleaved": "fe6d3d616b1d",
}
"""The first digits of the SHA-256 of logs of two workers and 100 kB."""


def test_the_page_says_what_was_measured() -> None:
    """`python -m benchmarks.page` writes it."""
    found = json.loads(MEASURED.read_text(encoding="utf-8"))
    assert page.PAGE.read_text(encoding="utf-8") == page.page(found)
    assert page.PLOT.read_text(encoding="utf-8") == page.plot(found)


def test_the_yardstick_stays() -> None:
    """Thirty literals."""
    lines = LITERALS.read_text(encoding="utf-8").splitlines()
    assert len(set(lines)) == len(lines) == 30
    assert hashlib.sha256(LITERALS.read_bytes()).hexdigest()[:12] == "726e8a5753b6"


@pytest.mark.parametrize("style", MADE)
def test_logs_are_made_alike_everywhere(style: str, tmp_path: Path) -> None:
    """Byte for byte."""
    write_logs(tmp_path / "run", style, 2, 100_000)
    whole = b"".join(path.read_bytes() for path in sorted((tmp_path / "run").iterdir()))
    assert hashlib.sha256(whole).hexdigest()[:12] == MADE[style]


def test_event_files_are_made_alike_everywhere(tmp_path: Path) -> None:
    """Byte for byte."""
    write_events(tmp_path / "made", 100, mixed=True)
    assert hashlib.sha256((tmp_path / "made").read_bytes()).hexdigest()[:12] == "95cd951dbfb7"


@pytest.mark.processes
def test_a_command_is_measured_from_outside_unless_it_measures_itself() -> None:
    """Ratios are those of neighbours."""
    code = 'from benchmarks.measure import sample; print(sample(["true"]).megabytes)'
    measured = [
        sys.executable,
        "-c",
        code,
    ]  # a child begins with the memory of this process, which may be large
    assert 0 < float(subprocess.check_output(measured, cwd=LITERALS.parent.parent)) < 500
    told = '{"seconds": 1.5, "cpu": 1, "megabytes": 3}'
    assert sample(["python3", "-c", f"print('{told}')"]) == (1.5, 1, 3)
    assert ratio([1, 4, 9], [1, 2, 3]) == (2, 1, 3)
