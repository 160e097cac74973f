"""Killed at any moment, a call loses nothing: the next one ends as if nothing had been."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from analyzer.triage.history import HOSTS, NIGHTS, RUNS, beside, open_history
from sqlalchemy import select
from tests.conftest import ROOT
from tests.triage.conftest import NOW, Desk
from tests.triage.planted import told_files

KILLS = 50


def remembered(folder: Path) -> list[object]:
    """All that history holds, without the numbers that a database gives to rows."""
    with open_history(beside(folder)) as history:
        runs = {row.pop("id"): row for row in history.rows(select(RUNS))}
        hosts = [
            (runs[row["run"]]["place"], row["host"], row["workers"]) for row in history.rows(select(HOSTS))
        ]
        return [sorted(map(repr, runs.values())), sorted(hosts), history.rows(select(NIGHTS))]


@pytest.mark.timeout(900)
def test_fifty_kills_change_nothing(desk: Desk) -> None:
    """SIGKILL at random moments, most of them while runs are examined; one call more, and all is as undisturbed."""
    for number in range(12):
        desk.write(f"run-{number}", f"KeyError: {number % 3}" if number % 2 else "")
    undisturbed = desk._replace(out=desk.out.parent / "undisturbed")
    assert undisturbed.call() == 1
    chance = Random(20261121)
    command = [sys.executable, "-m", "analyzer.cli.triage", str(desk.runs), "-o", str(desk.out), "--now", NOW]
    reach, statuses = 0.3, []
    for _ in range(KILLS):
        with subprocess.Popen(
            [*command, "--processes", "1"],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as call:
            time.sleep(chance.uniform(0, reach))
            statuses.append(call.poll())
            os.killpg(call.pid, signal.SIGKILL) if chance.random() < 0.5 else call.kill()
    assert desk.call() in {0, 1}
    assert desk.call() == 0
    assert remembered(desk.out) == remembered(undisturbed.out)
    assert told_files(desk.out) == told_files(undisturbed.out)
    assert not [name for name in told_files(desk.out) if "mwms-" in name]
