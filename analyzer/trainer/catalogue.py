"""Finds the scenarios and sample runs of the package."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.storage.package_files import resource
from analyzer.trainer.scenario import load_scenario
from analyzer.trainer.scenario_file import ScenarioError

if TYPE_CHECKING:
    from analyzer.trainer.scenario import Scenario

SAMPLE_RUNS = resource("sample_runs")
SCENARIOS = SAMPLE_RUNS / "scenarios"


def all_scenarios() -> list[Scenario]:
    """Return every scenario of the package, ordered by name."""
    return [load_scenario(path) for path in sorted(SCENARIOS.glob("*.yaml"))]


def find_scenario(
    name: str, folder: Path = SCENARIOS, guilty: int | None = None, workers: int | None = None
) -> Scenario:
    """Load a scenario by name or file path; `guilty` and `workers` override the file."""
    path = Path(name) if name.endswith((".yaml", ".yml")) else folder / f"{name}.yaml"
    if not path.is_file():
        raise ScenarioError(f"{name}: no such scenario; `mwms-train list` names those of {folder}")
    return load_scenario(path, guilty, workers)
