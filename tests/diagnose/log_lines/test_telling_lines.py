"""Where no rule explains a run, its most telling lines are shown, with what they usually mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analyzer.diagnose.advice.recipes import recipes
from analyzer.diagnose.log_lines.telling_lines import FIRST, hints
from analyzer.pipeline import analyze
from analyzer.render import render
from tests.recordings import ROOT
from tests.rules import our_rules

MakeRun = Callable[[Mapping[str, str]], Path]
PLAIN = "starting up\n" + "".join(f"step {n} loss {1 / n:.4f}\n" for n in range(1, 6))
DOWN = (
    "ERROR:tensorflow:Cluster check alive failed, /job:worker/replica:0/task:3 is down, aborting collectives"
)


@pytest.mark.runs
def test_known_words_come_first_with_their_causes_at_low_confidence(make_run: MakeRun) -> None:
    """In the JSON, the text, the page and the post."""
    log = PLAIN + "2026-11-20 09:14:00.1: E our/io.cc:1] quota of this tenant is used up\n"
    log += "2026-11-20 09:14:01.1: W our/io.cc:2] chunk 7 of the store: no space left on device\n"
    document = analyze([make_run({"worker-0.log": log, "worker-1.log": PLAIN})]).document
    first = document["telling_lines"][0]
    assert document["cause"] in {None, "unknown"}
    assert first["line"]["line"] == 8
    means = our_rules().causes["resource.disk_full"]
    assert first["possible"][0] == {"cause": "resource.disk_full", "means": means, "confidence": FIRST}
    assert document["deciding_file"]["kind"] == "disks"
    for kind in ("text", "html", "markdown"):
        assert f"Possible: {means} (30 %)" in " ".join(render(document, kind).split())


@pytest.mark.runs
@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("TF-TRT Warning: Could not find TensorRT", False),
        ("Unable to register cuDNN factory: Attempting to register factory for plugin cuDNN", False),
        ("Unable to register the lease of shard 17", True),
    ],
)
def test_a_line_that_a_benign_rule_explains_is_never_shown(line: str, shown: bool, make_run: MakeRun) -> None:
    """Neither as telling, nor as odd, nor as the last notable one; another one like it is."""
    log = f"2026-11-20 09:14:00.1: E tensorflow/x/io.cc:1] {line}\n{PLAIN}"
    document = analyze([make_run({"worker-0.log": log, "worker-1.log": log})]).document
    places = [
        *(told["line"] for told in document["telling_lines"]),
        *document["odd_lines"],
        *document["last_words"],
    ]
    quoted = [text for place in places for _, text in [*place["context"], (0, place["excerpt"])]]
    assert any(line in text for text in quoted) is shown


@pytest.mark.runs
def test_a_line_that_a_note_cites_of_several_workers_tells_none_apart(make_run: MakeRun) -> None:
    """On machines without a GPU, each worker misses the libraries of CUDA."""
    missing = "".join(
        f"2026-11-20 09:14:0{n}.1: W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load"
        f" dynamic library '{name}'; dlerror: {name}: cannot open shared object file: No such file or directory\n"
        for n, name in enumerate(("libcudart.so.11.0", "libcuda.so.1"))
    )
    odd = "2026-11-20 09:15:00.1: E our/io.cc:1] quota of this tenant is used up\n"
    logs = {"worker-0.log": missing + PLAIN + odd, "worker-1.log": missing + PLAIN}
    document = analyze([make_run(logs | {"exit_codes.txt": "worker-0 17\n"})]).document
    assert document["cause"] == "unknown"
    assert [each["line"]["line"] for each in document["telling_lines"]] == [9]


@pytest.mark.runs
def test_a_plain_sentence_is_no_telling_line(make_run: MakeRun) -> None:
    """Neither the command line of the job nor a list of options."""
    log = PLAIN + "options: preemption_on_demand_checkpoint=True, http port 8403\n"
    assert analyze([make_run({"worker-0.log": log, "worker-1.log": PLAIN})]).document["telling_lines"] == []


@pytest.mark.runs
@pytest.mark.parametrize(("day", "telling"), [("20", True), ("25", False)])
def test_a_line_of_the_kernel_on_another_day_is_none(day: str, telling: bool, make_run: MakeRun) -> None:
    """A kernel log holds weeks, and the kills of other jobs."""
    line = f"2026-11-{day}T09:14:07,850233+00:00 python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0\n"
    log = PLAIN + "2026-11-20 09:14:00.1: E our/io.cc:1] quota of this tenant is used up\n"
    document = analyze([make_run({"worker-0.log": log, "worker-1.log": log, "kernel.log": line})]).document
    sources = {told["line"]["source"] for told in document["telling_lines"]}
    assert ("kernel.log" in sources) is telling
    assert "worker-0.log" in sources


@pytest.mark.recordings
def test_a_healthy_run_and_one_that_is_explained_have_none() -> None:
    """There is nothing left to guess."""
    for name in ("healthy-custom-loop", "worker-killed"):
        document = analyze([ROOT / "sample_runs" / name / "run"]).document
        assert (document["telling_lines"], document["deciding_file"]) == ([], None)


def test_hints_speak_for_known_causes_and_files_that_can_be_collected() -> None:
    """`rules/causes.yaml` and `analyzer/diagnose/advice/recipes.yaml` have them."""
    assert {cause for hint in hints() for cause in hint.causes} <= our_rules().causes.keys()
    assert {hint.decided_by for hint in hints()} <= recipes().keys()
