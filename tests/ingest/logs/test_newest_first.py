"""A log whose newest line comes first is read from its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.discover import discover
from analyzer.identify import identify
from analyzer.ingest import ingest
from analyzer.ingest.logs import exports
from analyzer.ingest.logs.newest_first import is_newest_first
from analyzer.model.run import Tables
from tests.rules import our_rules

TRACEBACK = [
    "Traceback (most recent call last):",
    '  File "/app/t.py", line 3, in <module>',
    "ValueError: no",
]
LOG = [f"2026-11-21 01:40:{n:02d}.250000: I tensorflow/x.cc:1] loss at {n}" for n in range(9)]
STEPS = [line for n, each in enumerate(LOG) for line in (each, f"step {n} loss 0.5")]


def read(folder: Path, lines: list[str], name: str = "worker-0.log") -> Tables:
    """The tables of a run with one such file."""
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    messages = our_rules().messages
    return identify(ingest(discover([folder]), [], messages), messages)


def is_turned(folder: Path, lines: list[str]) -> bool:
    """Whether a file with these lines is taken for one in reverse."""
    path = folder / "worker-0.log"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return is_newest_first(path, path.read_bytes()[:4000])


@pytest.mark.parametrize("stamp", ["", "2026-11-21T01:40:{:02d}Z ", "gpu-3 2026-11-21 01:40:{:02d},250 "])
def test_lines_in_reverse_are_turned_over(tmp_path: Path, stamp: str) -> None:
    """A traceback is whole again; the number of a line counts from the oldest."""
    lines = [stamp.format(at // 3) + line for at, line in enumerate([*STEPS, *TRACEBACK])]
    tables = read(tmp_path, lines[::-1])
    scalars = tables["scalars"].filter(tables["scalars"]["tag"] == "step").sort("line")
    assert scalars["step"].to_list() == [*range(9)]
    assert tables["records"].filter(tables["records"]["kind"] == "traceback")["line"].to_list() == [19]


def test_times_that_mostly_rise_are_those_of_a_log(tmp_path: Path) -> None:
    """Buffered output comes late; a list of old files is not in order."""
    assert not is_turned(tmp_path, LOG)
    assert not is_turned(tmp_path, [*LOG[6:], *LOG[:6], *LOG[6:]])
    assert not is_turned(tmp_path, [*LOG[:4][::-1], *LOG[4:]])
    assert not is_turned(tmp_path, LOG[:5][::-1])
    assert is_turned(tmp_path, LOG[::-1])


def test_one_that_is_too_large_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read as it is."""
    monkeypatch.setattr(exports, "MAX_BYTES", 100)
    tables = read(tmp_path, STEPS[::-1])
    assert "newest first" in tables["damage"]["what"][0]
