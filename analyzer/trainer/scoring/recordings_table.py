"""Tabulates the recordings: scenario, what the fault's witness saw, and what the analyzer answers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from analyzer.trainer.catalogue import SCENARIOS, find_scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from analyzer.trainer.scenario import Scenario
    from analyzer.trainer.scoring.scoreboard import Score

ROW = re.compile(r"^\| ([\w ]+?) \| `?(.+?)`? \|$", re.MULTILINE)
HEAD = "| recording | fault | workers | TensorFlow | witness | truth | answer |"


def recordings_table(home: Path, scores: Sequence[Score]) -> str:
    """Return a table of all recordings below `home`."""
    origins = {score.name: origin_of(home / score.name) for score in scores}
    rows = [_row(score, origins[score.name]) for score in scores]
    proven = sum("witness" in origin for origin in origins.values())
    opening = f"{proven} of {len(scores)} recordings have a witness; the others are older than witnesses."
    return "\n".join([opening, "", HEAD, "|---" * 7 + "|", *rows]) + "\n"


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
