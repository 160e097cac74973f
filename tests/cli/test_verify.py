"""`--verify`: whether what a diagnosis quotes still stands where it says."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable, Mapping
from itertools import zip_longest
from pathlib import Path

import pytest

from analyzer.cli.analyze import main
from analyzer.render import render
from tests.recordings import SAMPLE_RUNS, Recordings, sample_run_named
from tests.relaid import rewrite

pytestmark = pytest.mark.recordings

MakeRun = Callable[[Mapping[str, str]], Path]
KILLED = sample_run_named("worker-killed") / "run"
ERROR = (
    'Traceback (most recent call last):\n  File "/workspace/train.py", line 4, in <module>\nKeyError: {}\n'
)


def report(run: Path, folder: Path, *options: str) -> Path:
    """A diagnosis of a run as JSON."""
    main([str(run), "-o", str(folder / "report.json"), *options])
    return folder / "report.json"


def test_one_report_is_verified_at_a_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A second one is not taken for a file of the run, wherever it stands."""
    made = report(KILLED, tmp_path)
    capsys.readouterr()
    for words in (
        [str(KILLED), "--verify", str(made), str(made)],
        [str(made), str(KILLED), "--verify", str(made)],
    ):
        assert main(words) == 2
        assert "report.json: a report, and --verify takes one" in capsys.readouterr().err


EXPORTED = [sample for sample in SAMPLE_RUNS if (sample / "run" / "cloud-logging.json").is_file()]


@pytest.mark.parametrize("sample_run", sorted({*SAMPLE_RUNS[::3], *EXPORTED}), ids=lambda sample: sample.name)
def test_every_citation_of_a_recorded_run_holds(
    sample_run: Path, tmp_path: Path, recordings: Recordings, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever the layout: one file a worker, streams of one file, redrawn lines."""
    made = tmp_path / "report.json"
    made.write_text(render(recordings.document(sample_run), "json"), encoding="utf-8")
    assert main([str(sample_run / "run"), "--verify", str(made)]) == 0
    held, of, *_ = capsys.readouterr().out.split(": ")[1].replace("of ", "").split()
    assert held == of


def test_what_does_not_hold_is_shown_with_what_stands_there_now(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A changed line, a line that is gone and a file that is gone."""
    run = shutil.copytree(KILLED, tmp_path / "run")
    made = report(run, tmp_path)
    cited = [e for f in json.loads(made.read_text())["findings"] for e in f["evidence"] if e["line"]]
    first = cited[0]
    rewrite(run / first["source"], lambda text: text.replace(first["excerpt"], "another line\x1b[31m"))
    capsys.readouterr()
    assert main([str(run), "--verify", str(made)]) == 1
    told = capsys.readouterr().out
    assert f"  {first['source']}:{first['line']}\n" in told
    assert "    now    another line\n" in told
    for log in run.glob("*.log"):
        log.write_text("one line\n")
    assert main([str(run), "--verify", str(made)]) == 1
    assert "    now    (no such line)\n" in capsys.readouterr().out
    for log in run.glob("*.log"):
        log.unlink()
    assert main([str(run), "--verify", str(made)]) == 1
    assert "    now    (no such file)\n" in capsys.readouterr().out


def test_a_masked_secret_is_no_difference(make_run: MakeRun, tmp_path: Path) -> None:
    """The words around it must stand there; another secret of the same kind is not told apart."""
    secret = "AKIAIOSFODNN7EXAMPLE"
    run = make_run({"worker-0.log": "step 1 loss 0.5\n" + ERROR.format(f"'no {secret} here'")})
    made = report(run, tmp_path)
    assert "[secret:" in made.read_text()
    assert secret not in made.read_text()
    assert main([str(run), "--verify", str(made)]) == 0
    rewrite(run / "worker-0.log", lambda text: text.replace("here", "there is"))
    assert main([str(run), "--verify", str(made)]) == 1


def test_secrets_that_stand_there_now_are_masked(
    make_run: MakeRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is printed instead is an output too."""
    run = make_run({"worker-0.log": "step 1 loss 0.5\n" + ERROR.format("'a'")})
    made = report(run, tmp_path)
    rewrite(run / "worker-0.log", lambda text: text.replace("KeyError: 'a'", "password=hunter2horse"))
    assert main([str(run), "--verify", str(made)]) == 1
    told = capsys.readouterr().out
    assert "password=[secret:" in told
    assert "hunter2horse" not in told


def test_streams_and_packed_files_are_looked_into(tmp_path: Path) -> None:
    """`job.log.gz` holds the lines of three workers."""
    logs = {index: (KILLED / f"worker-{index}.log").read_text(errors="replace") for index in range(3)}
    marked = [f"[pod/job-worker-{n}/tf] {line}" for n, text in logs.items() for line in text.splitlines()]
    run = tmp_path / "run"
    run.mkdir()
    (run / "job.log.gz").write_bytes(gzip.compress("\n".join(marked).encode()))
    made = report(run, tmp_path)
    sources = {e["source"] for f in json.loads(made.read_text())["findings"] for e in f["evidence"]}
    assert any("#" in (source or "") for source in sources)
    assert main([str(run), "--verify", str(made)]) == 0


def test_lines_of_several_workers_are_told_apart(make_run: MakeRun, tmp_path: Path) -> None:
    """A collector mixes them, so that a traceback's lines are not one below the other."""
    step = "2026-11-21 01:40:3{at}.000000: I tensorflow/core/a.cc:1] step\nstep {at} loss 0.5\n"
    steps = [step.format(at=at) for at in range(9)]
    logs = ["".join(steps) * 2, "".join(steps) + ERROR.format("'label'")]
    rows = zip_longest(*(log.splitlines() for log in logs))
    job = "".join(
        f"[1,{rank}]<stderr>:{line}\n" for row in rows for rank, line in enumerate(row) if line is not None
    )
    run = make_run({"job.log": job})
    made = report(run, tmp_path)
    cited = [e for f in json.loads(made.read_text())["findings"] for e in f["evidence"]]
    physical = job.splitlines()
    assert "KeyError: 'label'" in [physical[e["line"] - 1].partition(":")[2] for e in cited if e["line"]]
    assert main([str(run), "--verify", str(made)]) == 0


def test_a_report_without_hosts_cannot_be_verified(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says so, instead of calling every line wrong."""
    made = report(KILLED, tmp_path, "--redact", "topology")
    assert main([str(KILLED), "--verify", str(made)]) == 2
    assert "--redact topology" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "[]", '{"schema": "mwms-diagnosis/1"}', '{"schema": 1}'])
def test_what_is_no_diagnosis_is_refused(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the name of the file."""
    (tmp_path / "report.json").write_text(text)
    assert main([str(KILLED), "--verify", str(tmp_path / "report.json")]) == 2
    assert "report.json: this is no" in capsys.readouterr().err


def test_an_html_report_is_verified_by_the_diagnosis_in_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is the default, and what a ticket holds."""
    main([str(KILLED), "-o", str(tmp_path / "report.html")])
    capsys.readouterr()
    assert main([str(KILLED), "--verify", str(tmp_path / "report.html")]) == 0
    assert "quotes verified" in capsys.readouterr().out
    (tmp_path / "page.html").write_text("<html></html>", encoding="utf-8")
    assert main([str(KILLED), "--verify", str(tmp_path / "page.html")]) == 2
    assert "this is not a JSON or HTML report; create one with --format json" in capsys.readouterr().err


def test_a_report_about_another_run_is_said_to_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In one line, and not in a hundred differences."""
    made = report(KILLED, tmp_path)
    capsys.readouterr()
    assert main([str(sample_run_named("nan-loss") / "run"), "--verify", str(made)]) == 1
    _, said = capsys.readouterr().out.splitlines()
    assert said == "The report is about worker-killed, not nan-loss. Give the run that it is about."


LOG = "step 1 loss 0.5\n" + ERROR.format("'label'")
TWO = "".join(f"[worker {worker}] {line}\n" for worker in (0, 1) for line in LOG.splitlines() * 2)


@pytest.mark.parametrize(
    "paste",
    [
        "".join(f"> {line}\n" for line in TWO.splitlines()),
        "It says nothing.\n" * 60 + f"```\n{TWO}```\n",
        LOG.replace(" ", "\N{NO-BREAK SPACE}"),
        "".join(f"| 2026-11-17 12:30:37 | {line} |\n" for line in LOG.splitlines()),
    ],
    ids=["quotation", "block of code", "hard spaces", "table"],
)
def test_quotes_of_a_paste_are_verified(
    paste: str, make_run: MakeRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are those of its log, as the analysis read it."""
    run = make_run({"paste.txt": paste})
    made = report(run, tmp_path)
    assert any(
        "KeyError" in e["excerpt"] for f in json.loads(made.read_text())["findings"] for e in f["evidence"]
    )
    capsys.readouterr()
    assert main([str(run), "--verify", str(made)]) == 0
    assert " 0 of " not in capsys.readouterr().out
