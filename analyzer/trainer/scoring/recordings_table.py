"""Tabulates the recordings: scenario, what the fault's witness saw, and what the analyzer answers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from analyzer.trainer.catalogue import SCENARIOS, all_scenarios, find_scenario

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from analyzer.trainer.scenario import Scenario
    from analyzer.trainer.scoring.scoreboard import Score

ROW = re.compile(r"^\| ([\w ]+?) \| `?(.+?)`? \|$", re.MULTILINE)
HEAD = "| recording | fault | workers | TensorFlow | witness | truth | answer |"


def recordings_table(home: Path, scores: Sequence[Score]) -> str:
    """Return a table of all recordings below `home`, and the scenarios that have none."""
    origins = {score.name: origin_of(home / score.name) for score in scores}
    rows = [_row(score, origins[score.name]) for score in scores]
    proven = sum("witness" in origin for origin in origins.values())
    opening = f"{proven} of {len(scores)} recordings have a witness; the others are older than witnesses."
    return "\n".join([opening, "", HEAD, "|---" * 7 + "|", *rows, "", *_without(origins)]) + "\n"


def origin_of(recording: Path) -> Mapping[str, str]:
    """Return the table of a recording's `origin.md` as a mapping."""
    return dict(ROW.findall((recording / "origin.md").read_text(encoding="utf-8")))


def _row(score: Score, origin: Mapping[str, str]) -> str:
    scenario = find_scenario(origin["scenario"].rpartition("/")[2].removesuffix(".yaml"), SCENARIOS)
    answer = "right" if score.is_right else f"{score.said}: cause {score.cause}, culprit {score.culprit}"
    witness = origin.get("witness", "none: recorded before there were witnesses")
    cells = (score.name, _fault(scenario), str(scenario.workers), score.version, witness, score.truth, answer)
    return f"| {' | '.join(cells)} |"


def _fault(scenario: Scenario) -> str:
    """Return the scenario's fault, after its workload if it has one."""
    fault = str(scenario.fault["name"])
    return f"{scenario.workload}: {fault}" if scenario.workload else fault


def _without(origins: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Yield a line about scenarios without a recording: those that need GPUs, and others."""
    recorded = {origin["scenario"].rpartition("/")[2].removesuffix(".yaml") for origin in origins.values()}
    missing = [scenario for scenario in all_scenarios() if scenario.name not in recorded]
    for needs, why in ((True, "need GPUs, and nobody has run them"), (False, "have no recording")):
        names = ", ".join(f"`{scenario.name}`" for scenario in missing if scenario.needs_gpu is needs)
        if names:
            yield f"Scenarios that {why}: {names}."
