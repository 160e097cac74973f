"""Runs of former nights are examined again where other rules may explain them."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from tests.triage.conftest import Desk

TONIGHT, LATER = "2026-11-22T06:00:00", "2026-11-23T06:00:00"


def found(desk: Desk) -> dict[str, tuple[str, str, str]]:
    """Night, cause and fingerprint of each run."""
    with sqlite3.connect(desk.out / "history.sqlite") as connection:
        rows = connection.execute("SELECT name, night, cause, fingerprint FROM runs WHERE latest").fetchall()
    connection.close()
    return {name: (night, cause, group) for name, night, cause, group in rows}


def overlay(folder: Path, text: str) -> tuple[str, str]:
    """The option that adds a directory with an overlay."""
    folder.mkdir()
    (folder / "overlay.yaml").write_text(text, encoding="utf-8")
    return "--rules", str(folder)


@pytest.mark.processes
def test_an_unknown_failure_of_a_former_night_gets_its_cause(
    desk: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It keeps its night, and no exit status counts it twice; what is explained is left alone."""
    desk.write("bad", "KeyError: 'label'")
    desk.write("good")
    assert desk.call(*overlay(tmp_path / "off", "switch_off: [user-exception]\n")) == 1
    before = found(desk)
    assert before["bad"][1] == "unknown"
    assert desk.call(now=TONIGHT) == 0
    after = found(desk)
    assert after["bad"][:2] == (before["bad"][0], "user.exception")
    assert after["good"] == before["good"]
    assert "1 examined" in capsys.readouterr().out
    assert desk.call(now=LATER) == 0
    assert "0 examined" in capsys.readouterr().out


@pytest.mark.processes
def test_a_changed_rule_examines_its_own_runs_only(
    desk: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those whose files are gone stay as they are."""
    desk.write("bad", "KeyError: 'label'")
    desk.write("gone", "KeyError: 'label'")
    desk.write("full", "OSError: [Errno 28] No space left on device: '/data/x'")
    assert desk.call() == 1
    before = found(desk)
    shutil.rmtree(desk.runs / "gone")
    assert desk.call(*overlay(tmp_path / "tuned", "status: {user-exception: test}\n"), now=TONIGHT) == 0
    assert "1 examined" in capsys.readouterr().out
    assert found(desk) == before


@pytest.mark.processes
def test_every_run_is_examined_again_on_request(
    desk: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also what a rule explains, and what is healthy: a new rule may know better."""
    desk.write("bad", "KeyError: 'label'")
    desk.write("good")
    assert desk.call() == 1
    before = found(desk)
    other = overlay(tmp_path / "off", "switch_off: [disk-full]\n")
    assert desk.call(*other, now=TONIGHT) == 0
    assert "0 examined" in (said := capsys.readouterr().out)
    assert "2 kept as diagnosed with other rules (--again re-examines them)" in said
    assert desk.call(*other, "--again", now=TONIGHT) == 0
    assert "2 examined" in (said := capsys.readouterr().out)
    assert "other rules" not in said
    assert found(desk) == before
    assert desk.call(*other, "--again", now=LATER) == 0
    assert "0 examined" in capsys.readouterr().out


@pytest.mark.processes
def test_a_renamed_cause_keeps_its_group(desk: Desk, tmp_path: Path) -> None:
    """A pack states the former name."""
    desk.write("bad", "KeyError: 'label'")
    assert desk.call() == 1
    before = found(desk)["bad"]
    mine = tmp_path / "mine"
    mine.mkdir()
    names = json.dumps({"user.former": "user.exception"})
    (mine / "pack.yaml").write_text(f'name: mine\nversion: "1"\nrenamed: {names}\n', encoding="utf-8")
    with sqlite3.connect(desk.out / "history.sqlite") as connection:
        connection.execute("UPDATE runs SET rules = NULL, rule_digest = NULL, fingerprint = 'former'")
    connection.close()
    assert desk.call("--rules", str(mine), now=TONIGHT) == 0
    assert found(desk)["bad"][:2] == before[:2]
    assert found(desk)["bad"][2] != before[2], "that of its former name"
