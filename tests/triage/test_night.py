"""Call after call: what is examined, what is left alone, and how each call ends."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sqlalchemy import select

from analyzer.cli.analyze import main as analyze
from analyzer.cli.triage import main
from analyzer.triage.database.history import default_history_url, open_history
from analyzer.triage.database.schema import RUNS
from tests.recordings import ROOT
from tests.triage.conftest import Desk

pytestmark = pytest.mark.processes


def rows(desk: Desk) -> dict[str, tuple[str | None, str]]:
    """Verdict and problem of each run that history knows, by the name of its directory."""
    with open_history(default_history_url(desk.out)) as history:
        found = history.rows(select(RUNS).where(RUNS.c.latest))
    return {Path(row["place"]).name: (row["verdict"], row["problem"]) for row in found}


def state(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file below a directory, with its time and content."""
    return {str(p): (p.stat().st_mtime_ns, p.read_bytes()) for p in folder.rglob("*") if p.is_file()}


def test_only_what_is_new_or_changed_is_examined(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """And nothing that is below the root is ever written to."""
    desk.write("good")
    desk.write("bad", "KeyError: 'label'")
    (desk.runs / "broken").mkdir()
    (desk.runs / "broken" / "worker-0.log").touch()
    before = state(desk.runs)
    assert desk.call() == 1
    assert state(desk.runs) == before
    found = rows(desk)
    assert found["bad"][0] == "failed"
    assert found["good"][0] != "failed"
    assert "empty" in found["broken"][1]
    reports = state(desk.out / "reports")
    assert len(reports) == 1, "a healthy run has a row, and no report"

    assert desk.call() == 0
    log = desk.runs / "bad" / "worker-0.log"
    os.utime(log, (1_800_000_500, 1_800_000_500))
    capsys.readouterr()
    assert desk.call() == 0, "a later time and the same content is no change"
    assert (
        "0 examined, 0 newly failed or degraded, 1 written anew with the same content"
        in capsys.readouterr().out
    )
    assert state(desk.out / "reports") == reports

    desk.write("bad", "ValueError: another thing")
    desk.write("worse", "KeyError: 'label'")
    assert desk.call("--limit", "1") == 1
    assert "1 left for the next time" in capsys.readouterr().out
    assert "worse" not in rows(desk)
    assert desk.call("--fail-on", "failed") == 1
    assert desk.call() == 0
    changed = {name for name, each in state(desk.out / "reports").items() if reports.get(name) != each}
    assert {Path(name).name.rpartition("-")[0] for name in changed} == {"bad", "worse"}


def test_a_run_that_is_being_written_waits(desk: Desk) -> None:
    """Until nobody has written to it for a while; a clock that is far ahead is no writer."""
    log = desk.write("going-on", "KeyError: 1") / "worker-0.log"
    now = time.time()
    os.utime(log, (now, now))
    assert desk.call(now=str(now)) == 0
    assert rows(desk) == {}
    assert desk.call(now=str(now + 1_000)) == 1


def test_a_run_without_end_costs_its_process_and_no_other(desk: Desk) -> None:
    """It is tried again on the next two calls, and then no more."""
    desk.write("slow", "KeyError: 1")
    for _ in range(3):
        assert desk.call("--timeout", "0.01") == 3
        assert rows(desk)["slow"] == (None, "it took longer than 0.01 s")
    assert desk.call("--timeout", "0.01") == 0
    os.utime(desk.runs / "slow" / "worker-0.log", (1, 1))
    assert desk.call() == 1


def test_two_calls_do_not_overlap(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """The second is told so; the lock of one that was killed is gone with it."""
    desk.write("good")
    holding = "import fcntl, sys, time; f = open(sys.argv[1], 'a'); fcntl.flock(f, 2); print(flush=True); time.sleep(60)"
    desk.out.mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", holding, str(desk.out / ".lock")], stdout=subprocess.PIPE
    ) as enclosing_run:
        assert enclosing_run.stdout
        enclosing_run.stdout.readline()
        assert desk.call() == 2
        enclosing_run.kill()
    assert "another mwms-triage is running" in capsys.readouterr().err
    assert desk.call() == 0


def test_old_reports_go_and_history_stays(desk: Desk) -> None:
    """A report is kept for its time; what an unknown hand put there is left."""
    desk.write("old", "KeyError: 1")
    desk.call("--keep", "2d")
    desk.write("new", "KeyError: 1")
    (desk.out / "reports" / ".mwms-draft").touch()
    (desk.out / "reports" / "mine.html").touch()
    desk.call("--keep", "2d", now="2026-11-24T06:00:00")
    left = sorted(path.name.rpartition("-")[0] for path in (desk.out / "reports").iterdir())
    assert left == ["", "new"]
    assert {*rows(desk)} == {"old", "new"}


def test_usage_is_told_before_anything_is_written(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """A directory in a run, a root that is not there, lengths of time that are none, a wrong database."""
    run = desk.write("good")
    assert desk._replace(out=run / "reports").call() == 2
    assert not (run / "reports").exists()
    assert desk._replace(runs=desk.runs / "gone").call() == 4
    assert desk.call("--since", "yesterday") == 2
    assert desk.call("--timeout", "soon") == 2
    assert desk.call("--history", "oracle://u:hunter2@h/x") == 2
    assert "hunter2" not in capsys.readouterr().err
    assert desk.call("--history", "mysql://u:hunter2@h/x") == 2
    told = capsys.readouterr().err
    assert "hunter2" not in told
    assert "postgresql+psycopg://" in told
    assert desk._replace(out=desk.runs).call() == 2
    assert main(["ftp://host/runs", "-o", str(desk.out)]) == 2
    assert main([str(desk.runs), "-o", "s3://bucket/triage"]) == 2
    told = capsys.readouterr().err
    assert "name another one" in told
    assert "s3:// or gs://" in told
    assert "--history postgresql" in told
    assert not Path("s3:").exists()
    assert desk.call("--processes", "-3") == 2
    assert capsys.readouterr().err == "mwms-triage: --processes: -3: give a whole number above 0\n"
    assert desk.call("--since", "2026-11-20") == 0
    assert desk.call("--since", "99999d") == 0


def test_outputs_below_the_root_are_no_run_later(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """As in a cron job: `mwms-triage ROOT -o ROOT/triage`, every night; a directory with runs is refused."""
    desk.write("good")
    desk.write("old/bad", "KeyError: 'label'")
    below = desk._replace(out=desk.runs / "triage")
    assert [below.call(), below.call(), below.call("--runs", "*")] == [1, 0, 1]
    assert "triage" not in rows(below)
    assert desk.call() == 1
    assert len(rows(desk)) == 2
    capsys.readouterr()
    assert desk._replace(out=desk.runs / "old").call() == 2
    assert "holds the run" in capsys.readouterr().err
    assert [path.name for path in (desk.runs / "old").iterdir()] == ["bad"]
    for page in (
        "index.html",
        "groups.json",
        "digest.md",
        "runs.jsonl",
        "metrics.prom",
        "feed.xml",
        "feed.json",
    ):
        assert analyze([str(desk.out / page)]) == 4
        assert "a report of mwms-triage; give the run" in capsys.readouterr().err


def test_a_mistyped_root_leaves_the_pages_alone(desk: Desk) -> None:
    """They are of the last call that found runs."""
    desk.write("good")
    assert desk.call() == 0
    before = {name: what for name, what in state(desk.out).items() if ".sqlite" not in name}
    assert desk._replace(runs=desk.runs.parent / "none").call(now="2026-11-22T06:00:00") == 4
    assert {name: what for name, what in state(desk.out).items() if ".sqlite" not in name} == before


def test_inconclusive_runs_are_counted(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """In the headlines and in the terminal; one is not healthy either."""
    log = desk.runs / "odd" / "worker-0.log"
    log.parent.mkdir()
    log.write_text("hello\n", "utf-8")
    os.utime(log, (1_800_000_000, 1_800_000_000))
    assert desk.call() == 3
    assert "0 newly failed or degraded, 1 inconclusive" in capsys.readouterr().out
    assert "1 run, none failed, 1 inconclusive" in (desk.out / "digest.md").read_text("utf-8")
    desk.write("bad", "KeyError: 'label'")
    desk.call()
    assert "1 of 2 runs failed or degraded, 1 inconclusive" in (desk.out / "index.html").read_text("utf-8")


def test_a_lone_run_starts_without_what_only_the_triage_needs() -> None:
    """The packages of the extras are not imported by `mwms-analyze`."""
    heavy = ["sqlalchemy", "fsspec", "pebble", "distributed", "prometheus_client", "psycopg"]
    code = f"import sys, analyzer.cli.analyze; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_first_call_says_how_long_to_wait_and_where_old_runs_went(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    """Runs that were copied a moment ago are left, and older ones do not belong to tonight."""
    log = desk.write("bad", "KeyError: 'label'") / "worker-0.log"
    for each in log.parent.iterdir():
        dated = "".join(f"2026-11-14 09:14:00 {line}\n" for line in each.read_text("utf-8").splitlines())
        each.write_text(dated, encoding="utf-8")
    desk.call("--settle", "10000w")
    said = "call again 10000w after the last write, or with --settle 0s to take them now"
    assert f"1 still being written ({said})" in capsys.readouterr().out
    assert desk.call("--settle", "0s") == 1
    assert "filed under their dates: 2026-11-14\n" in capsys.readouterr().out
