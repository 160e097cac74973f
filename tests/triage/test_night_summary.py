"""What sixty nights tell: what is new, known, back and gone, and which machine is guilty."""

from __future__ import annotations

import shlex
import sqlite3
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from prometheus_client.parser import text_string_to_metric_families

from analyzer.pipeline import load_rules
from analyzer.triage.database.history import default_history_url, open_history
from analyzer.triage.database.schema import VERSION
from analyzer.triage.night_summary import Run, summarize_night
from analyzer.triage.publish.digest import digest
from analyzer.triage.publish.metrics import metrics
from analyzer.triage.publish.page import page
from analyzer.triage.restarts import job_of
from tests.triage.conftest import Desk, Summaries
from tests.triage.planted import Planted, plant, sixty_nights, told, when


@pytest.mark.parametrize("seed", range(2))
def test_the_bad_machine_the_regression_and_the_new_failure_are_found(
    after_sixty_nights: Summaries, seed: int
) -> None:
    """And nothing else: not the busy machine, not the one that always has the chief of faulty code."""
    after = after_sixty_nights(seed)
    assert [group.cause for group in after.in_state("new")] == ["numeric.nan_loss"]
    assert [group.cause for group in after.in_state("regressed")] == ["data.corrupt_record"]
    assert after.in_state("regressed")[0].status.before == f"{when(15):%Y-%m-%d}"
    assert [guilty.suspect.host for guilty in after.suspects] == ["node-17"]
    (guilty,) = after.suspects
    assert guilty.suspect.runs == 50
    assert guilty.suspect.contexts >= 10
    assert guilty.suspect.low < guilty.suspect.rate < guilty.suspect.high
    assert [each.accused for each in after.hosts[:2]] == [True, False], "shown below the threshold too"
    (unknown,) = after.unknown
    assert unknown.cause == "unknown"
    assert shlex.split(unknown.command) == ["mwms-rules", "new", "--from", unknown.run.place]


@pytest.mark.parametrize(
    ("place", "name", "title"),
    [
        ("/runs/nlp/bert/2026-11-26/run", "2026-11-26", "bert/2026-11-26"),
        ("/runs/bert/48213/", "48213", "bert/48213"),
        ("/runs/nlp/bert-48213", "bert-48213", "bert-48213"),
        ("48213", "48213", "48213"),
    ],
)
def test_a_date_or_number_is_no_title(place: str, name: str, title: str) -> None:
    """It stands beside dates of nights."""
    run = Run(place, None, name, "2026-11-26", None, None, None, "", None, (), "", None, None)
    assert run.title == title


def test_a_restart_that_helped_is_remembered(tmp_path: Path) -> None:
    """The next run of the same job, within a day; another job's is none."""
    day = 86_400.0
    runs = [
        Planted(0, "bert", ("a", "b"), "peer.killed", "a", started=0.0),
        Planted(0, "bert-retry-1", ("a", "c"), "healthy", started=1_000.0),
        Planted(0, "gpt", ("a", "b"), "peer.killed", "a", started=2_000.0),
        Planted(0, "gpt_restart2", ("a", "b"), "peer.killed", "a", started=9_000.0),
        Planted(0, "job-17", ("a", "b"), "data.missing_file", None, started=100.0),
        Planted(0, "job-18", ("a", "b"), "healthy", started=1_000.0),
        Planted(0, "late", ("a", "b"), "user.exception", None, started=0.0),
        Planted(0, "late-rerun", ("a", "b"), "healthy", started=3 * day),
    ]
    after = {group.cause: group.restart for group in told(tmp_path, runs).groups}
    killed = after.pop("peer.killed")
    assert killed
    assert (killed.known, killed.helped, killed.last) == (2, 1, "same")
    assert [*after.values()] == [None, None]
    assert job_of("/runs/2026-11-20/bert-attempt-2/run") == job_of("/runs/2026-11-21/bert/run")
    assert job_of("/runs/job-17") != job_of("/runs/job-18")
    assert job_of("/runs/2026-11-20", "/runs") is None


def test_the_latest_run_of_a_group_is_the_last_that_ended(tmp_path: Path) -> None:
    """Not the first by name; a run of a later night is later, and one without a time is the first."""
    runs = [
        Planted(0, "z", ("a",), "peer.killed", started=9_000.0),
        Planted(1, "a", ("a",), "peer.killed", started=90_000.0),
        Planted(1, "c", ("a",), "peer.killed", started=95_000.0),
        Planted(1, "b", ("a",), "peer.killed", started=93_000.0),
        Planted(1, "0", ("a",), "peer.killed"),
        Planted(1, "y", ("a",), "user.exception"),
        Planted(1, "x", ("a",), "user.exception"),
    ]
    latest = {group.cause: group.run.name for group in told(tmp_path, runs).groups}
    assert latest == {"peer.killed": "c", "user.exception": "x"}


def test_a_renamed_cause_is_one_cause(tmp_path: Path) -> None:
    """The former name has its trend, and its failures count in the ranking of machines."""
    runs = [
        Planted(
            night,
            f"job-{night}",
            ("bad", f"n{night % 5}"),
            "peer.former" if night < 9 else "peer.killed",
            "bad",
        )
        for night in range(12)
    ]
    renamed = load_rules()._replace(renamed={"peer.former": "peer.killed"})
    with open_history(default_history_url(tmp_path)) as history:
        after = summarize_night(history, plant(history, runs), 12, 0, [], renamed)
    (cause,) = after.causes
    assert (cause.cause, cause.runs) == ("peer.killed", 12)
    assert after.hosts[0].guilty == 12


@pytest.mark.processes
def test_an_old_history_is_carried_over(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """Of version 1, as its tables were; what it knew is known. One of the future is refused."""
    desk.out.mkdir()
    old = (Path(__file__).parent / "history-1.sql").read_text(encoding="utf-8")
    with sqlite3.connect(desk.out / "history.sqlite") as connection:
        connection.executescript(old)
    connection.close()
    run = desk.write("bad", "KeyError: 'label'")
    assert desk.call(now="2026-11-22T06:00:00") == 1
    digested = (desk.out / "digest.md").read_text(encoding="utf-8")
    assert "all of them known" in digested
    assert "since 2026-11-20" in digested
    assert run.name in digested
    with sqlite3.connect(desk.out / "history.sqlite") as connection:
        assert connection.execute("SELECT version FROM about").fetchone() == (VERSION,)
        assert connection.execute("SELECT count(*) FROM runs").fetchone() == (2,)
        connection.execute("UPDATE about SET version = 99")
    connection.close()
    assert desk.call() == 2
    assert "version 99" in capsys.readouterr().err


HOSTILE = "</script><img src=x onerror=window.PWNED=1>`|*[a](javascript:alert(1))\n\u202eevil\0\udcff@all"


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    """In the database, on the page, in the post and in the metrics."""
    name = HOSTILE.replace("/", "_").replace("\0", "")
    run = Planted(0, name, (HOSTILE, "b"), HOSTILE, HOSTILE)
    guilty = [Planted(0, f"{name}{n}", (HOSTILE, f"b{n}"), "unknown", HOSTILE) for n in range(20)]
    after = told(tmp_path, [run, *guilty])
    assert len(after.suspects) == 1
    shown = page(after)
    assert "<img src=x" not in shown
    assert "\u202e" not in shown
    post = digest(after)
    assert all(each not in MarkdownIt().render(post) for each in ("<img", "<a ", "</script>"))
    families = {each.name: each for each in text_string_to_metric_families(metrics(after).decode())}
    assert families["mwms_triage_runs"].samples
    assert families["mwms_triage_suspect_host_runs"].samples[0].value == 20, (
        "runs of causes that a machine can be"
    )


@pytest.mark.slow
def test_equal_histories_make_equal_outputs(after_sixty_nights: Summaries, tmp_path: Path) -> None:
    """Whatever the order in which the runs of a night were examined."""
    runs = list(sixty_nights(1))
    backwards = [run for night in range(60) for run in runs[::-1] if run.night == night]
    one, other = after_sixty_nights(1), told(tmp_path, backwards)
    assert page(one) == page(other)
    assert digest(one) == digest(other)
    assert metrics(one) == metrics(other)
