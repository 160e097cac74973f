"""Reports of the tool are neither logs nor runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analyzer.discover import discover
from analyzer.model.errors import NothingReadable
from analyzer.model.source_kinds import Kind
from analyzer.render import FORMATS, render
from analyzer.render.text import terminal
from tests.recordings import ROOT

SHOWN = ROOT / "tests" / "render" / "diagnoses" / "r101.json"


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("name", ["mwms-report-{run}{suffix}", "notes/worker-3{suffix}"])
def test_a_report_beside_the_logs_is_none(format_: str, name: str, tmp_path: Path) -> None:
    """Whatever it quotes, and however somebody renamed it."""
    document = json.loads(SHOWN.read_text("utf-8"))
    report = tmp_path / name.format(run="job", suffix=FORMATS[format_].suffix)
    report.parent.mkdir(exist_ok=True)
    report.write_text(render(document, format_), "utf-8")
    (tmp_path / "worker-0.log").write_text("step 1\n", "utf-8")
    kinds = {source.name: source.kind for source in discover([tmp_path]).sources}
    assert kinds == {"worker-0.log": Kind.LOG, report.relative_to(tmp_path).as_posix(): Kind.OTHER}


def test_a_text_that_begins_with_a_word_for_a_verdict_is_no_report(tmp_path: Path) -> None:
    """Whatever stands in front of the word."""
    (tmp_path / "notes.txt").write_text("- failed  to connect\n\nstep 1 loss 0.5\n", "utf-8")
    assert [source.kind for source in discover([tmp_path]).sources] == [Kind.LOG]


def test_a_coloured_report_is_one(tmp_path: Path) -> None:
    """Of a terminal that was recorded."""
    shown = terminal(json.loads(SHOWN.read_text("utf-8")), colour=True, width=100)
    (tmp_path / "screen.txt").write_text(shown, "utf-8")
    (tmp_path / "worker-0.log").write_text("step 1\n", "utf-8")
    kinds = {source.name: source.kind for source in discover([tmp_path]).sources}
    assert kinds == {"worker-0.log": Kind.LOG, "screen.txt": Kind.OTHER}


def test_a_report_is_no_run(tmp_path: Path) -> None:
    """Somebody gives it instead of the run."""
    report = tmp_path / "report.json"
    report.write_text('{\n  "schema": "mwms-diagnosis/1"\n}\n', "utf-8")
    with pytest.raises(NothingReadable, match="give the run that it is about"):
        discover([report])


def test_a_directory_of_reports_is_no_run(tmp_path: Path) -> None:
    """The error names what was given, not kinds of files."""
    for suffix in ("html", "md"):
        (tmp_path / f"mwms-report-job.{suffix}").write_text("x", "utf-8")
    (tmp_path / "runs.jsonl").touch()
    with pytest.raises(NothingReadable, match="holds reports of this tool and no log"):
        discover([tmp_path])
    (tmp_path / "worker-0.log").write_text("step 1\n", "utf-8")
    assert len(discover([tmp_path]).sources) == 4
