"""The recipes for collecting a run are there for all that a rule may want, and give files that are read so."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analyzer.diagnose.advice.recipes import recipes
from analyzer.discover import discover
from analyzer.pipeline import analyze
from analyzer.render import render
from tests.recordings import ROOT
from tests.rules import our_rules

PAGE = (ROOT / "docs" / "collect.md").read_text(encoding="utf-8")
FILES = re.findall(r"^\| `([^`]+)` \| (\w+)(?: of (\S+))? \|", PAGE, re.MULTILINE)
WANTED = {kind for rule in our_rules().rules for kind in rule.requires}


@pytest.mark.parametrize(("name", "kind", "worker"), FILES)
def test_a_file_is_read_as_the_page_says(tmp_path: Path, name: str, kind: str, worker: str) -> None:
    """As that kind of source, and of that worker where the page names one."""
    (tmp_path / "run" / name).parent.mkdir(parents=True)
    (tmp_path / "run" / name).write_text("step 1 loss 0.5\n")
    (source,) = discover([tmp_path / "run"]).sources
    assert (source.kind.value, source.worker or "") == (kind, worker)


@pytest.mark.parametrize("kind", sorted(WANTED | recipes().keys()))
def test_all_that_a_rule_requires_has_a_recipe(kind: str) -> None:
    """With commands, and a section of the page that its link leads to."""
    recipe = recipes()[kind]
    assert recipe.commands
    assert recipe.docs == "docs/collect.md#" + recipe.title.lower().replace(" ", "-")
    assert f"\n### {recipe.title}\n" in PAGE


def test_every_command_of_a_recipe_is_on_the_page() -> None:
    """What collects a place also in the section of that place."""
    for recipe in recipes().values():
        for command in recipe.commands:
            assert PAGE.count(f"\n{command.text}\n") >= (2 if command.text.startswith("mwms-collect") else 1)


def test_every_variable_of_a_command_is_defined() -> None:
    """In the command itself, or by the platform."""
    for recipe in recipes().values():
        for command in recipe.commands:
            if command.language == "sh":
                used = set(re.findall(r"\$\{?(\w+)", command.text)) - {"TF_CONFIG"}
                assert all(f"{name}=" in command.text for name in used), command.text


@pytest.mark.runs
def test_what_was_not_collected_leads_to_its_recipe(make_run: Callable[[Mapping[str, str]], Path]) -> None:
    """In every format, with the commands themselves where they can be pasted from; each kind once."""
    document = analyze([make_run({"worker-0.log": "step 1 loss 0.5\n"})]).document
    lacks = {finding["rule"]: finding["lacks"] for finding in document["findings"] if finding["lacks"]}
    assert lacks["straggler"] == "trace"
    assert lacks.keys() == {f["rule"] for f in document["findings"] if f["outcome"] == "not-applicable"}
    assert [recipe["kind"] for recipe in document["collect"]] == list(dict.fromkeys(lacks.values()))
    told = json.loads(render(document, "json"))["collect"]
    traces = next(recipe for recipe in told if recipe["kind"] == "trace")
    assert any("profile_batch" in command["command"] for command in traces["commands"])
    for name in ("text", "markdown"):
        page = re.sub(r"\s+", " ", render(document, name).replace("\\", ""))
        assert f"Next time, {recipes()['trace'].how}" in page
        assert "docs/collect.md#traces" in page
    page = render(document, "html")
    (there,) = set(re.findall(r'<a href="#([\w-]+)">how to collect <bdi>traces</bdi></a>', page))
    assert page.count(f'<details id="{there}">') == 1
    assert (
        "tf.profiler.experimental.stop()" in page.split(f'<details id="{there}">')[1].split("</details>")[0]
    )


@pytest.mark.recordings
def test_where_nothing_is_lacking_nothing_is_said() -> None:
    """A run with traces and exit codes."""
    document = analyze([ROOT / "sample_runs" / "slow-worker-tf215" / "run"]).document
    assert [recipe["kind"] for recipe in document["collect"]] == ["packages"]  # worth knowing, no cause
    assert "Not collected" not in render(document, "text")
