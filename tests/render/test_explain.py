"""The chain from bytes to verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analyzer.cli.analyze import main
from analyzer.pipeline import analyze
from analyzer.render import render
from analyzer.render.explain import explain
from tests.recordings import SAMPLE_RUNS, Recordings, sample_run_named
from tests.render.documents import load

MakeRun = Callable[[Mapping[str, str]], Path]
PARTS = ["What was read", "Evidence, signals, findings", "Ranking of the causes", "What was tried", "Verdict"]


def test_each_link_of_the_chain_is_named(recordings: Recordings) -> None:
    """A line of the file, the signal that it makes true, the finding, what follows from it, and the ranking."""
    told = " ".join(explain(recordings.document(sample_run_named("killed-without-exit-codes-tf28"))).split())
    assert all(part in told for part in PARTS)
    assert "logs/rank0.out:57: Additional GRPC error" in told
    assert "→ lost by peers, process gone" in told
    assert "confidence 90 %: base likely (78 %), “process gone” raises it to strong (90 %)" in told
    assert "symptom-aborted-by-peer: symptom (worker:0, worker:2, worker:3)" in told
    assert "explained by worker-vanished" in told
    assert "1. peer.vanished, rule worker-vanished (90 %): chosen" in told


def test_a_healthy_verdict_says_why_it_is_not_more_certain(make_run: MakeRun, recordings: Recordings) -> None:
    """An end that nothing states, and what speaks against it; the page and the terminal say it too."""
    ended = "step 1 loss 0.5\nstep 2 loss 0.4\ntraining finished\n"
    sure = analyze([make_run({"worker-0.log": ended, "exit_codes.txt": "worker-0 0\n"})]).diagnosis.document
    assert "95 % is the maximum for a healthy run" in explain(sure, 200)
    ended = ended.removesuffix("training finished\n")
    inferred = analyze(
        [make_run({"worker-0.log": ended, "exit_codes.txt": "worker-0 0\n"})]
    ).diagnosis.document
    assert "worker:0 exited with code 0, and no line shows that all steps were done" in inferred["why"][1]
    document = recordings.document(sample_run_named("ratings-healthy"))
    said = (
        "The confidence is only 75 %: chief:0 exited with code 0, and no line shows that all steps were done"
    )
    for text in (explain(document, 300), *(render(document, each) for each in ("text", "html"))):
        assert said in " ".join(text.split())


def test_no_exit_code_is_asked_for_of_a_worker_that_still_runs(recordings: Recordings) -> None:
    """`exit_codes.txt` says that it does."""
    document = recordings.document(sample_run_named("frozen-tf215"))
    assert "exit code of worker:0" not in explain(document)


def test_what_nearly_fired_says_what_to_collect(recordings: Recordings) -> None:
    """Without exit codes, a kill cannot be told from an exit."""
    document = recordings.document(sample_run_named("killed-without-exit-codes-tf28"))
    near = {each["rule"]: each for each in document["near_misses"]}
    assert near["worker-exited-early"]["missing"] == "left"
    assert near["worker-exited-early"]["collect"] == "the exit code of worker:1"


def test_what_was_collected_is_not_asked_for_again(sample_run: Path, recordings: Recordings) -> None:
    """The exit codes of all are here; of a healthy job nothing is missing at all."""
    document = recordings.document(sample_run)
    asked = {near["collect"] for near in document["near_misses"] if near["collect"]}
    coded = {worker["id"] for worker in document["workers"] if worker["ended"]["exit_code"] is not None}
    assert not {f"the exit code of {worker}" for worker in coded} & asked
    assert document["verdict"] != "healthy" or not document["near_misses"]
    assert all(len(near["held"]) > 1 for near in document["near_misses"])


def test_causes_that_lost_say_why(recordings: Recordings) -> None:
    """Explained by another one, or weaker."""
    ranked = [
        explain(recordings.document(sample)).partition("Ranking of the causes")[2].partition("\n\n")[0]
        for sample in SAMPLE_RUNS
    ]
    assert any("not chosen: it follows from what" in " ".join(each.split()) for each in ranked)
    assert all(each.count(": chosen: ") <= 1 for each in ranked)


@pytest.mark.runs
def test_without_a_cause_the_ends_are_told(make_run: MakeRun) -> None:
    """The verdict rests on them."""
    run = make_run({"worker-0.log": "step 1 loss 0.5\nstep 2 loss 0.4\n", "exit_codes.txt": "worker-0 3\n"})
    told = explain(analyze([run]).document)
    assert "No cause was found: the verdict rests on how the workers ended." in told
    assert "worker:0 exited (exit code 3)" in told


@pytest.mark.parametrize("name", ["r101", "r111", "hostile", "unknown"])
@pytest.mark.parametrize("width", [60, 100])
def test_older_documents_are_explained_too(name: str, width: int) -> None:
    """Whatever they lack, within the width of the terminal, and without control codes."""
    told = explain(load(name), width)
    assert "Verdict" in told
    assert "\x1b" not in told
    assert [line for line in told.splitlines() if len(line) > width and " " in line.strip()] == []


@pytest.mark.recordings
def test_the_command_prints_it_after_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The page comes first; with the report itself on standard output there is no place for it."""
    run = sample_run_named("worker-killed") / "run"
    assert main([str(run), "--explain", "-o", str(tmp_path / "r.json")]) == 1
    told = capsys.readouterr().out
    assert told.index("Restart as is?") < told.index("What was read") < told.index("\nVerdict\n")
    assert main([str(run), "--explain", "-o", "-"]) == 2
    assert "--explain" in capsys.readouterr().err


def test_an_unknown_failure_shows_what_nearly_fired() -> None:
    """On the terminal page, which has nothing better to say."""
    near = {"rule": "a", "title": "A", "cause": "x.a", "worker": "worker:1", "held": ["one", "two"]}
    document = load("unknown") | {"near_misses": [near | {"missing": "three", "collect": "the exit code"}]}
    assert "lacks only the signal “three”; to decide it, collect the exit code" in " ".join(
        render(document, "text").split()
    )


@pytest.mark.runs
def test_an_absence_is_not_shown_with_the_line_of_an_exit_code(make_run: MakeRun) -> None:
    """What a log does not hold is shown by the last line of that log, not by one of another file."""
    logs = {"worker-0.log": "step 12 loss 0.5\n", "worker-1.log": "step 12 loss 0.5\n"}
    run = make_run(
        {**logs, "exit_codes.txt": "worker-0 1\nworker-1 -9\n", "worker-1/memory.events": "oom_kill 1\n"}
    )
    found = next(f for f in analyze([run]).document["findings"] if f["rule"] == "host-oom-killed")
    absent = [place for place in found["evidence"] if "ends without" in place["says"]]
    assert [(place["source"], place["excerpt"]) for place in absent] == [("worker-1.log", "step 12 loss 0.5")]
