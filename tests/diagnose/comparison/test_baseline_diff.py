"""What stands out in a failure that no rule knows, and what differs from a good run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from analyzer.cli.analyze import main
from analyzer.diagnose.log_lines.anomalous_lines import healthy_lines
from analyzer.model.log_template import template_of
from analyzer.model.options import AnalysisOptions
from analyzer.pipeline import analyze
from analyzer.render import render
from tests.recordings import sample_run_named
from tests.test_sample_runs import CONTRACT

MakeRun = Callable[[Mapping[str, str]], Path]
STAMP = "2026-11-21 03:00:{:02},250 INFO train: "


def log(odd: str = "", steps: int = 6, *, pace: int = 1, last: str = "all is well") -> str:
    """A log of some dated steps, with something in the middle and a line at the end."""
    lines = [STAMP.format(n * pace) + f"step {n} loss {0.5 / n:.4f}" for n in range(1, steps + 1)]
    middle = [odd] if odd else []
    return (
        "\n".join(["TensorFlow 2.15.1", *lines[:3], *middle, *lines[3:], "closing 3 readers", "bye", last])
        + "\n"
    )


def sample(name: str) -> Path:
    """A recorded run."""
    return sample_run_named(name) / "run"


def said(lines: list[dict[str, Any]]) -> dict[str, str]:
    """Excerpt → why it stands out, in their order."""
    return {each["excerpt"]: each["says"] for each in lines}


@pytest.mark.runs
def test_an_unknown_failure_shows_the_lines_that_stand_out(make_run: MakeRun) -> None:
    """What one worker alone has, and what follows the last step that all show; never what was quoted already."""
    run = make_run(
        {
            "worker-0.log": log(steps=6),
            "worker-1.log": log("lease 4711 of shard 17 ran out", steps=5, last="waiting for lease 4712"),
            "worker-2.log": log(steps=6),
            "exit_codes.txt": "worker-0 7\nworker-1 7\nworker-2 7\n",
        }
    )
    document = analyze([run]).document
    jsonschema.Draft202012Validator(CONTRACT).validate(document)
    assert document["cause"] == "unknown"
    assert said(document["odd_lines"]) == {"lease 4711 of shard 17 ran out": "only worker:1 logged it"}
    assert document["last_words"][0]["excerpt"] == "waiting for lease 4712"
    assert document["odd_lines"][0]["line"] == 5
    assert any("At step 6, 2 had arrived; worker:1 had not." in each for each in document["why"])
    assert "Lines that stand out" in render(document, "text")


@pytest.mark.runs
def test_a_warning_that_no_healthy_recording_has_stands_out(make_run: MakeRun) -> None:
    """Though all workers print it; what healthy jobs print too, however alarming, does not."""
    strange = (
        "2026-11-21 01:52:40.037079: E tensorflow/core/lease/lease.cc:81] Lease 4711 of shard 17 ran out"
    )
    frequency = (
        "2026-11-21 01:52:40.037079: E tensorflow/core/platform/profile.cc:81] CPU Frequency: 2100000 Hz"
    )
    usual = frequency.replace(": E ", ": I ")
    logs = {f"worker-{n}.log": log(strange, steps=6) + usual + "\n" for n in range(3)}
    run = make_run(logs | {"exit_codes.txt": "worker-0 7\nworker-1 7\nworker-2 7\n"})
    document = analyze([run]).document
    telling = [told["line"] for told in document["telling_lines"]]
    assert said(telling)[strange].endswith("not seen in any known healthy run")
    assert strange not in said(document["odd_lines"])
    assert template_of(usual) in healthy_lines()
    assert template_of(frequency) not in healthy_lines()


@pytest.mark.runs
def test_numbers_do_not_make_a_line_odd(make_run: MakeRun) -> None:
    """Addresses, paths, tasks and numbers are masked before lines are compared."""
    logs = {
        f"worker-{n}.log": log(f"worker:{n} reads /data/part-{n}/x.rec from 10.0.0.{n}:2222 in 0.{n}5 s")
        for n in range(3)
    }
    document = analyze([make_run(logs | {"exit_codes.txt": "worker-0 7\nworker-1 7\nworker-2 7\n"})]).document
    assert document["odd_lines"] == []


@pytest.mark.recordings
def test_a_known_failure_has_no_need_of_them() -> None:
    """The rule says what is to be seen."""
    assert analyze([sample("worker-killed")]).document["odd_lines"] == []


@pytest.mark.runs
def test_a_good_run_shows_what_is_new(tmp_path: Path) -> None:
    """Versions, size, pace, values and lines."""
    for name, text in (
        ("good", log()),
        (
            "bad",
            log("cache is full", pace=4, last="so long").replace("2.15.1", "2.18.0").replace("0.2500", "0.9"),
        ),
    ):
        (tmp_path / name).mkdir()
        for index in range(2):
            (tmp_path / name / f"worker-{index}.log").write_text(text)
    document = analyze([tmp_path / "bad"], AnalysisOptions(against=(tmp_path / "good",))).document
    jsonschema.Draft202012Validator(CONTRACT).validate(document)
    found = document["against"]
    assert found["run"] == "good"
    assert {"key": "tensorflow", "label": "TensorFlow", "here": ["2.18.0"], "there": ["2.15.1"]} in found[
        "facts"
    ]
    assert found["step_time"] == {"here": 4.0, "there": 1.0}
    assert set(said(found["lines"])) == {"cache is full", "so long"}
    text = render(document, "text")
    assert "Against good" in text
    assert "A step took 4.00 s, in the good run 1.00 s (4.0 times as long)" in text


@pytest.mark.runs
def test_a_collector_of_the_good_run_makes_no_difference(tmp_path: Path) -> None:
    """Nor do the times that it puts before lines; a line that it lacks, and another level, are shown."""
    words = ["INFO:tensorflow:Cluster is ready.", "INFO:root:lease 4711", "the cache is warm"]
    for name, level, collector in (
        ("good", "INFO", "[pod/job-worker-{}/main] 2026-11-24T09:12:14.{}37576142Z "),
        ("bad", "ERROR", ""),
    ):
        (tmp_path / name).mkdir()
        for n in range(2):
            lines = [*log().splitlines(), *words[: 2 + (name == "bad")], f"{level}:root:the door is open"]
            prefixed = [collector.format(n, n) + line for line in lines]
            (tmp_path / name / f"worker-{n}.log").write_text("\n".join(prefixed) + "\n")
    found = analyze([tmp_path / "bad"], AnalysisOptions(against=(tmp_path / "good",))).document["against"]
    assert set(said(found["lines"])) == {"the cache is warm", "ERROR:root:the door is open"}


@pytest.mark.recordings
def test_values_that_went_elsewhere_are_shown() -> None:
    """At the last place that both runs show."""
    found = analyze(
        [sample("loss-explodes-tf211")], AnalysisOptions(against=(sample("healthy-srun-tf211"),))
    ).document["against"]
    (curve,) = found["curves"]
    assert (curve["tag"], curve["step"]) == ("loss", 60)
    assert curve["here"] > 1e20 > 1 > curve["there"]


@pytest.mark.recordings
def test_the_culprits_own_words_come_before_those_of_its_witnesses() -> None:
    """What a worker prints because a peer is gone tells least."""
    found = analyze(
        [sample("worker-exception")], AnalysisOptions(against=(sample("healthy-custom-loop"),))
    ).document["against"]
    assert found["lines"][0]["worker"] == "worker:3"
    assert found["lines"][0]["excerpt"].startswith("ValueError: ")
    assert "Aborting" not in found["lines"][1]["excerpt"]


@pytest.mark.recordings
@pytest.mark.parametrize(
    ("name", "went"),
    [
        ("healthy-custom-loop", "which went well"),
        ("worker-killed", "which failed itself (peer.killed)"),
        ("healthy-hosts", "which went well"),
    ],
)
def test_a_run_does_not_differ_from_itself(name: str, went: str) -> None:
    """Every list is empty; how the run that is compared with ended is said."""
    document = analyze([sample(name)], AnalysisOptions(against=(sample(name),))).document
    found = document["against"]
    assert f"Against {name}, {went}" in render(document, "text")
    assert went in render(document, "html").partition('id="good-run-h"')[2].partition("</h2>")[0]
    assert (found["facts"], found["curves"], found["lines"]) == ([], [], [])
    assert found["step_time"]["here"] == found["step_time"]["there"]


@pytest.mark.recordings
def test_a_run_that_failed_is_not_called_good(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither by its lines nor twice; where the report is for a program, standard error has it."""
    bad, failed = sample("loss-explodes-tf211"), sample("worker-killed")
    assert main([str(bad), "--against", str(failed), "-o", str(tmp_path / "r.json")]) == 1
    told = capsys.readouterr()
    assert "Against worker-killed, which failed itself" in told.out
    assert told.err == ""
    text = (tmp_path / "r.json").read_text("utf-8")
    assert "not in worker-killed" in text
    assert "the good run" not in text
    main([str(bad), "--against", str(failed), "-o", "-", "--format", "json"])
    assert "compared with worker-killed, which failed itself" in capsys.readouterr().err


@pytest.mark.recordings
def test_the_command_takes_a_good_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One that is not there is said."""
    bad, good = sample("loss-explodes-tf211"), sample("healthy-srun-tf211")
    assert main([str(bad), "--against", str(good), "-o", str(tmp_path / "r.json")]) == 1
    assert f"Against {good.parent.name}" in capsys.readouterr().out
    assert main([str(bad), "--against", str(tmp_path / "none"), "-o", str(tmp_path / "r.json")]) == 2
    assert "none" in capsys.readouterr().err
