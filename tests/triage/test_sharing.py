"""Two calls that share a history: neither loses a run, and the second waits or is refused."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest
from sqlalchemy import select

from analyzer.triage.database.history import default_history_url, open_history
from analyzer.triage.database.schema import RUNS
from analyzer.triage.locks import WaitPolicy
from tests.recordings import ROOT
from tests.triage.conftest import NOW, Desk

pytestmark = pytest.mark.processes


def start(desk: Desk, out: Path, *more: str) -> subprocess.Popen[str]:
    """Start a call in a process of its own."""
    command = [sys.executable, "-m", "analyzer.cli.triage", str(desk.runs), "-o", str(out), "--now", NOW]
    arguments = [*command, "--processes", "1", *more]
    return subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_two_machines_on_one_file_lose_no_run(desk: Desk) -> None:
    """Two processes, two roots, two output directories, one SQLite file: one after the other."""
    other = desk._replace(runs=desk.runs.parent / "more")
    for number in range(6):
        desk.write(f"run-{number}", "KeyError: 1")
        other.write(f"run-{number}", "KeyError: 2")
    url = f"sqlite:///{desk.runs.parent / 'shared.sqlite'}"
    calls = [
        start(each, each.runs.parent / f"out-{each.runs.name}", "--history", url) for each in (desk, other)
    ]
    ended = [(call.communicate(timeout=200), call.returncode) for call in calls]
    assert [status for _, status in ended] == [1, 1], ended
    with open_history(url) as history:
        places = {row["place"] for row in history.rows(select(RUNS.c.place).where(RUNS.c.latest))}
    assert len(places) == 12


def test_the_second_call_says_that_it_waits_or_ends(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """`--wait 0` refuses at once; with time to wait, the call goes on when the first has ended."""
    desk.write("bad", "KeyError: 1")
    desk.out.mkdir()
    url = default_history_url(desk.out)
    with open_history(url) as history:
        with history.exclusive(WaitPolicy()):
            assert desk._replace(out=desk.out / "second").call("--history", url) == 2
            assert "another mwms-triage is running" in capsys.readouterr().err
            waiting = start(desk, desk.out / "third", "--history", url, "--wait", "1m")
            assert waiting.stderr
            assert "waiting up to 60 s" in waiting.stderr.readline()
            assert waiting.poll() is None
        assert waiting.wait(60) == 1


def test_no_link_is_dead(desk: Desk) -> None:
    """A report that another machine wrote is linked by its URL, and not at all where none is known."""
    desk.write("bad", "KeyError: 1")
    url = f"sqlite:///{desk.runs.parent / 'shared.sqlite'}"
    second = desk._replace(out=desk.runs.parent / "second")
    desk.call("--history", url)
    second.call("--history", url)
    assert links(desk.out / "index.html") & reports(desk.out)
    assert not {link for link in links(second.out / "index.html") if "reports/" in link}

    desk.write("bad", "ValueError: 2")
    desk.call("--history", url, "--reports-url", "https://triage.example/")
    second.call("--history", url)
    (report,) = reports(desk.out)
    assert f"https://triage.example/{report}" in links(second.out / "index.html")
    late = desk._replace(out=desk.runs.parent / "late")
    late.call("--history", url, now="2026-11-24T06:00:00")
    assert "nights/2026-11-21.html" in links(late.out / "index.html")
    for page in [*pages(desk), *pages(second), *pages(late)]:
        local = {link for link in links(page) if "://" not in link}
        assert [link for link in local if not (page.parent / link).exists()] == []


def test_a_night_outlives_its_reports(desk: Desk) -> None:
    """When the reports of a night expire, its page stays and links them no more."""
    desk.write("old", "KeyError: 1")
    desk.call("--keep", "2d")
    night = desk.out / "nights/2026-11-21.html"
    assert {link for link in links(night) if "reports/" in link}
    desk.write("new", "KeyError: 1")
    desk.call("--keep", "2d", now="2026-11-24T06:00:00")
    assert not {link for link in links(night) if "reports/" in link}
    for page in pages(desk):
        assert [link for link in links(page) if not (page.parent / link).exists()] == []


def pages(desk: Desk) -> list[Path]:
    """Return the index page and the pages of nights."""
    return [desk.out / "index.html", *(desk.out / "nights").iterdir()]


def links(page: Path) -> set[str]:
    """Return the targets of all links on a page that lead to other files."""
    return set(re.findall(r'<a href="([^"#]+)"', page.read_text(encoding="utf-8")))


def reports(out: Path) -> set[str]:
    """Return the names of the reports in an output directory."""
    return {f"reports/{path.name}" for path in (out / "reports").iterdir()}


def test_runs_of_the_past_belong_to_their_own_nights(desk: Desk) -> None:
    """The first call that examines runs files them by the date of their end; later ones by their own."""
    ended = ("2026-11-03", "2026-11-14", "2026-11-20")
    for date in ended:
        dated(desk, f"run-{date}", date)
    assert desk.call("--settle", "9999d") == 0
    desk.call()
    digested = (desk.out / "digest.md").read_text(encoding="utf-8")
    assert (
        "Runs that came in now and ended earlier are filed under their dates: 2026-11-14, with 1 of 1 run "
        "failed or degraded; 2026-11-03, with 1 of 1 run failed or degraded. "
        "What failed: `nights/2026-11-14.html`, `nights/2026-11-03.html`." in digested
    )
    assert nights(desk) == {
        "run-2026-11-03": "2026-11-03",
        "run-2026-11-14": "2026-11-14",
        "run-2026-11-20": "2026-11-21",
    }
    dated(desk, "late", "2026-11-05")
    desk.call(now="2026-11-22T06:00:00")
    assert nights(desk)["late"] == "2026-11-22"
    dated(desk, "archive", "2026-11-05")
    desk.call("--backfill", now="2026-11-22T06:00:00")
    assert nights(desk)["archive"] == "2026-11-05"
    pages = {path.stem for path in (desk.out / "nights").iterdir()}
    assert pages == {*nights(desk).values()}
    assert "archive" in (desk.out / "nights/2026-11-05.html").read_text(encoding="utf-8")


def test_a_quiet_sunday_does_not_hide_saturday(desk: Desk) -> None:
    """The index shows the last night with runs, and says so; the digest says that nothing is new."""
    desk.write("bad", "KeyError: 1")
    desk.call()
    assert desk.call(now="2026-11-22T06:00:00") == 0
    index = (desk.out / "index.html").read_text(encoding="utf-8")
    assert "No runs on 2026-11-22; this is the last night with runs" in index
    assert "1 failure never seen before" in index
    digested = (desk.out / "digest.md").read_text(encoding="utf-8")
    assert "No runs on 2026-11-22" in digested
    assert "2026-11-21" in digested
    assert (desk.out / "runs.jsonl").read_text(encoding="utf-8") == ""


def test_what_is_too_old_goes(desk: Desk) -> None:
    """Runs, nights and reports older than `--keep-history`; they are not looked for again."""
    for date in ("2026-09-01", "2026-11-20"):
        dated(desk, f"run-{date}", date)
    desk.call("--keep-history", "30d")
    desk.call("--keep-history", "30d")
    assert nights(desk) == {"run-2026-11-20": "2026-11-21"}
    assert [path.stem for path in (desk.out / "nights").iterdir()] == ["2026-11-21"]


def dated(desk: Desk, name: str, date: str) -> None:
    """Write a failed run whose log ends at 10:00 on a date."""
    run = desk.write(name, "KeyError: 1")
    for path in run.iterdir():
        path.write_text(path.read_text(encoding="utf-8").replace("2026-11-20", date), encoding="utf-8")
        written = datetime.fromisoformat(f"{date}T10:01:00+00:00").timestamp()
        os.utime(path, (written, written))


@pytest.mark.parametrize("stamp", ["11-20 10:00:00", "1970-01-02 10:00:00"])
def test_a_run_without_a_year_is_filed_by_its_files(desk: Desk, stamp: str) -> None:
    """Not into a night of 1970; the digest says so."""
    log = desk.write("yearless", "KeyError: 1") / "worker-0.log"
    dated(desk, "other", "2026-11-10")
    for path in log.parent.iterdir():
        lines = path.read_text(encoding="utf-8").replace("2026-11-20", stamp[:-9]).splitlines()
        path.write_text("".join(f"{stamp} {line}\n" for line in lines), encoding="utf-8")
        written = datetime.fromisoformat("2026-11-14T10:01:00+00:00").timestamp()
        os.utime(path, (written, written))
    desk.call()
    assert nights(desk) == {"yearless": "2026-11-14", "other": "2026-11-10"}
    said = "1 of these runs states no date: it is filed by the last write to its files."
    assert said in (desk.out / "digest.md").read_text(encoding="utf-8")


def nights(desk: Desk) -> dict[str, str]:
    """Return the night of each run by its name."""
    with open_history(default_history_url(desk.out)) as history:
        rows = history.rows(select(RUNS).where(RUNS.c.latest))
    return {Path(row["place"]).name: row["night"] for row in rows}
