"""Killed at any moment, a call loses nothing: the next one ends as if nothing had been."""

from __future__ import annotations

import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import psutil
import pytest
from sqlalchemy import select

from analyzer.triage.database.history import default_history_url, open_history
from analyzer.triage.database.schema import HOSTS, NIGHTS, RUNS
from tests.recordings import ROOT
from tests.triage.conftest import NOW, Desk
from tests.triage.planted import told_files

SIGTERM_WHILE_WAITING = """
import os, signal, sys
from analyzer.cli.triage import main
from analyzer.triage.examine import workers

wait = workers.wait
workers.wait = lambda *futures, **how: (os.kill(os.getpid(), signal.SIGTERM), wait(*futures, **how))[1]
sys.exit(main(sys.argv[1:]))
"""


def remembered(folder: Path) -> list[object]:
    """All that history holds, without the numbers that a database gives to rows."""
    with open_history(default_history_url(folder)) as history:
        runs = {row.pop("id"): row for row in history.rows(select(RUNS))}
        hosts = [(runs[row["run"]]["place"], row["host"]) for row in history.rows(select(HOSTS))]
        return [sorted(map(repr, runs.values())), sorted(hosts), history.rows(select(NIGHTS))]


@pytest.mark.slow
@pytest.mark.xdist_group("servers")
@pytest.mark.timeout(600)
def test_fifty_kills_change_nothing(desk: Desk) -> None:
    """SIGKILL at random moments, from the start to the last output; the next call ends as an undisturbed one.

    44 calls are killed while all is loaded, 6 with their processes; those end, too.
    """
    for number in range(12):
        desk.write(f"run-{number}", f"KeyError: {number % 3}" if number % 2 else "")
    undisturbed = desk._replace(out=desk.out.parent / "undisturbed")
    assert undisturbed.call() == 1
    chance = Random(20261121)
    command = [sys.executable, "-m", "analyzer.cli.triage", str(desk.runs), "-o", str(desk.out), "--now", NOW]
    for _ in range(6):
        with subprocess.Popen([*command, "--processes", "1"], cwd=ROOT, stdout=subprocess.DEVNULL) as call:
            time.sleep(chance.uniform(0.5, 4))
            left = psutil.Process(call.pid).children(recursive=True)
            call.kill()
        assert psutil.wait_procs(left)[1] == []
    now = str(datetime.fromisoformat(NOW).replace(tzinfo=UTC).timestamp())
    killed = [sys.executable, "-m", "tests.triage.killed", str(desk.runs), str(desk.out), now, "44", "1.0"]
    subprocess.run(killed, cwd=ROOT, check=True, capture_output=True)
    assert desk.call() in {0, 1}
    assert remembered(desk.out) == remembered(undisturbed.out)
    assert told_files(desk.out) == told_files(undisturbed.out)


@pytest.mark.processes
def test_sigterm_ends_the_pool_without_a_word_of_python(desk: Desk) -> None:
    """As a scheduler sends it to a call that takes too long: processes end, and the next call goes on."""
    desk.write("run-1", "KeyError: 1")
    call = [sys.executable, "-c", SIGTERM_WHILE_WAITING, str(desk.runs), "-o", str(desk.out), "--now", NOW]
    ended = subprocess.run(call, cwd=ROOT, check=False, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (130, "mwms-triage: interrupted\n")
    assert desk.call() == 1
