"""Calls that cannot mean what they say are refused in one line that says what to do."""

import sys
from pathlib import Path

import pytest

from analyzer.cli.analyze import main


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["RUN", "--format", "html,json", "-o", "out.html"],
            "-o out.html: 2 formats need a directory, for a file each; write -o out.html/",
        ),
        (
            ["RUN", "--verify", "x.json", "--against", "RUN"],
            "--verify only checks an earlier report: give it without --against and --history",
        ),
        (
            ["https://host/run"],
            "https://host/run: give a directory, or a URL that begins with s3:// or gs://",
        ),
        (
            ["RUN", "-o", "a.html,b.json"],
            "-o a.html,b.json: names one file; several formats: --format html,json -o DIR/",
        ),
        ([""], "RUN is empty; if a variable should fill it, the variable is not set"),
        (["RUN", ""], "RUN is empty; if a variable should fill it, the variable is not set"),
        (["RUN", "--post", ""], "--post is empty; if a variable should fill it, the variable is not set"),
        (["RUN", "--post="], "--post is empty; if a variable should fill it, the variable is not set"),
        (["RUN", "--rules=sig=a="], "--rules sig=a=: no such directory"),
        (["RUN", "--against", "gone"], "--against gone: no such file or directory"),
        (
            ["RUN", "--format", "json", "-o", "x.html"],
            "-o x.html: --format json goes into a file .json; give a name with this suffix, or no --format",
        ),
        (["RUN", "--config", "nope.toml"], "nope.toml: no such file or directory"),
        (["RUN", "--rules", "EMPTY"], "--rules EMPTY: holds no rule (*.yaml)"),
    ],
)
def test_a_call_that_makes_no_sense_is_refused(
    options: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With status 2, before anything is read or written."""
    monkeypatch.chdir(tmp_path)
    Path("RUN").mkdir()
    Path("EMPTY").mkdir()
    assert main(options) == 2
    assert capsys.readouterr().err == f"mwms-analyze: {said}\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["EMPTY", "RUN"]


def test_a_missing_driver_is_told_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a plain installation has none."""
    monkeypatch.setitem(sys.modules, "fsspec", None)
    assert main(["gs://bucket/run"]) == 2
    checkout = "in a checkout of mwms-analyze: pip install '.[gcs]'"
    said = (
        f"gs://bucket/run: its driver is not installed; {checkout}, with its wheel: pip install 'WHEEL[gcs]'"
    )
    assert capsys.readouterr().err == f"mwms-analyze: {said}\n"
