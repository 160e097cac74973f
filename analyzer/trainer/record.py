"""Running scenarios and keeping what they left as sample runs."""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.trainer.handover import HandoverError, check_target, hand_over
from analyzer.trainer.job import run_job
from analyzer.trainer.neutral import Neutral
from analyzer.trainer.workspace import Workspace

if TYPE_CHECKING:
    from analyzer.trainer.interpreter import Interpreter
    from analyzer.trainer.job import Outcome, Tell
    from analyzer.trainer.scenario import Scenario

LIMIT = 1_000_000

ORIGIN = """\
# Where {name} comes from

{description}

| | |
|---|---|
| scenario | `sample_runs/scenarios/{name}.yaml` |
| guilty worker | {guilty} |
| TensorFlow | {tensorflow} |
| Python | {python} |
| communication | {communication} |
| recorded | {date} |
| command | `mwms-train record {name}` |

`expected.json` was written from the scenario by that command.
The workers really ran, as processes of one machine, each in a folder of its own;
in text files the path of that folder reads `/workspace`, the virtual environment `/opt/venv`
and Python's own library `/usr/lib/python{minor}`. Nothing else was changed.
"""


@dataclass(frozen=True)
class Recorder:
    """With which Python, and how, scenarios are run."""

    interpreter: Interpreter
    communication: str
    tell: Tell

    def run(self, scenario: Scenario, target: Path) -> Outcome:
        """Run one scenario and hand its run directory over."""
        check_target(target)
        # resolved, for it is the resolved path that a traceback shows
        with tempfile.TemporaryDirectory(prefix="job-") as scratch:
            workspace = Workspace.create(Path(scratch).resolve(), scenario)
            outcome = run_job(workspace, self.interpreter, self.communication, self.tell)
            hand_over(workspace, outcome, Neutral.of(workspace, self.interpreter), target)
        return outcome

    def record(self, scenario: Scenario, home: Path) -> Path:
        """Run one scenario and keep it below `home`, in place of an older recording."""
        with tempfile.TemporaryDirectory(prefix="recording-") as scratch:
            fresh = Path(scratch) / scenario.name
            self.run(scenario, fresh / "run")
            _check_size(fresh)
            (fresh / "expected.json").write_text(expected_json(scenario))
            (fresh / "origin.md").write_text(self._origin(scenario))
            target = home / scenario.name
            if target.exists():
                shutil.rmtree(target)
            shutil.copytree(fresh, target)
        return target

    def _origin(self, scenario: Scenario) -> str:
        return ORIGIN.format(
            name=scenario.name,
            description=scenario.description.strip(),
            guilty=scenario.guilty if scenario.fault["name"] != "none" else "none",
            tensorflow=self.interpreter.tensorflow,
            python=self.interpreter.python,
            minor=self.interpreter.minor,
            communication=self.communication,
            date=datetime.now(UTC).strftime("%Y-%m-%d"),
        )


def expected_json(scenario: Scenario) -> str:
    """Return the content of `expected.json`; nobody writes it by hand."""
    return json.dumps(scenario.expected(), indent=2) + "\n"


def _check_size(folder: Path) -> None:
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    if size > LIMIT:
        raise HandoverError(f"{folder.name}: {size:,} bytes are too many for a sample run ({LIMIT:,})")
