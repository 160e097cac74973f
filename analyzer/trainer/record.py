"""Runs scenarios and stores their run directories, for example as sample runs."""

from __future__ import annotations

import json
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.trainer.faults import EXTERNAL
from analyzer.trainer.gpus.shares import GpuShares, MachineError
from analyzer.trainer.handover import HandoverError, check_target, check_writable, hand_over
from analyzer.trainer.jobs.job import run_job
from analyzer.trainer.jobs.programs import ProgramError
from analyzer.trainer.jobs.sandbox.leftovers import job_prefix
from analyzer.trainer.jobs.sandbox.workspace import Workspace
from analyzer.trainer.jobs.workloads import Workload, program_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.trainer.jobs.interpreter import Interpreter
    from analyzer.trainer.jobs.job import Outcome
    from analyzer.trainer.jobs.observer import JobObserver
    from analyzer.trainer.jobs.programs import UserProgram
    from analyzer.trainer.scenario import Scenario

LIMIT = 1_000_000
"""Bytes of a sample run, which the repository has to hold."""
LOGGING = {style: (style,) for style in ("loguru", "structlog", "tqdm")}
"""Packages that a log style needs besides those of TensorFlow."""

ORIGIN = """\
# Where {name} comes from

{description}

| | |
|---|---|
| scenario | `sample_runs/scenarios/{scenario}.yaml` |
| guilty worker | {guilty} |
| TensorFlow | {tensorflow}{other} |
| Python | {python} |
| communication | {communication} |
| witness | {witness} |
| recorded | {date} |
| command | `mwms-train record {scenario}{options}` |

`expected.json` was written from the scenario by that command.
The workers really ran, as processes of one machine, each in a folder of its own{hosts};
in text files the path of that folder reads `{home}`, the virtual environment `{environment}`
and Python's own library `/usr/lib/python{minor}`. Nothing else was changed.
"""

HOSTS = " and in a network namespace of its own"
SHARED_GPUS = ", and shared one GPU,\nwith an `NCCL_HOSTID` of its own each"


@dataclass(frozen=True)
class Recorder:
    """Runs and records scenarios with one Python installation."""

    interpreter: Interpreter
    communication: str
    observer: JobObserver
    other: Interpreter | None = None
    """Another Python installation for the guilty worker, if any."""

    def run(self, scenario: Scenario, target: Path) -> Outcome:
        """Run one scenario, write its run directory to `target`, and return the outcome."""
        check_target(target)
        if scenario.needs_slurm:
            raise MachineError(
                f"{scenario.name}: Slurm itself does this, to a job of deploy/trainer/job.sbatch"
            )
        GpuShares.of(scenario)
        for interpreter in filter(None, (self.interpreter, self.other)):
            interpreter.require(*LOGGING.get(scenario.log_style, ()))
        each = dict.fromkeys(range(scenario.workers), self.interpreter)
        if self.other:
            each[scenario.guilty] = self.other
        with _scratch() as root:
            program = program_of(scenario, each, self.communication)
            workspace = Workspace.create(root, scenario, program.install)
            outcome = run_job(workspace, program, self.observer)
            hand_over(workspace, outcome, program.anonymizer(workspace), target)
        return outcome

    def record(self, scenario: Scenario, target: Path, limit: float = LIMIT) -> Path:
        """Run a scenario, store it with `expected.json` and `origin.md` as `target`, and return `target`.

        Raises:
            HandoverError: the recording has more than `limit` bytes, or `target` cannot be written.
        """
        check_writable(target.parent)
        with tempfile.TemporaryDirectory(prefix="recording-") as scratch:
            fresh = Path(scratch) / target.name
            outcome = self.run(scenario, fresh / "run")
            _check_size(fresh, limit)
            (fresh / "expected.json").write_text(expected_json(scenario))
            (fresh / "origin.md").write_text(self._origin(scenario, target.name, outcome.witness))
            if target.exists():
                shutil.rmtree(target)
            shutil.copytree(fresh, target)
        return target

    def _origin(self, scenario: Scenario, name: str, witness: str) -> str:
        options = "" if name == scenario.name else f" --name {name}"
        if scenario.recorder:
            options += " --recorder"
        if scenario.shared_gpus:
            options += " --shared-gpus"
        if scenario.blames:
            options += f" --guilty {scenario.guilty}"
        workload = Workload.load(scenario.workload) if scenario.workload else None
        return ORIGIN.format(
            home=workload.home if workload else "/workspace",
            environment=workload.environment if workload else "/opt/venv",
            hosts=HOSTS * scenario.hosts + SHARED_GPUS * scenario.shared_gpus,
            name=name,
            scenario=scenario.name,
            options=options,
            description=scenario.description.strip(),
            guilty=scenario.guilty if scenario.blames else "none",
            tensorflow=self.interpreter.tensorflow,
            other=f" ({self.other.tensorflow} on the guilty worker)" if self.other else "",
            python=self.interpreter.python,
            minor=self.interpreter.minor,
            communication=self.communication,
            witness=witness,
            date=datetime.now(UTC).strftime("%Y-%m-%d"),
        )


def run_program(scenario: Scenario, program: UserProgram, observer: JobObserver, target: Path) -> Outcome:
    """Run a scenario with the user's program, write its run directory to `target`, and return the outcome.

    Raises:
        ProgramError: the fault needs files or options that only the trainer's own program has.
    """
    check_target(target)
    if scenario.fault["name"] not in EXTERNAL:
        raise ProgramError(
            f"{scenario.name}: the fault {scenario.fault['name']} needs the trainer's own program "
            f"(any program takes: {', '.join(EXTERNAL)})"
        )
    with _scratch() as root:
        workspace = Workspace.create(root, scenario, program.install)
        outcome = run_job(workspace, program, observer)
        hand_over(workspace, outcome, program.anonymizer(workspace), target)
    return outcome


@contextmanager
def _scratch() -> Iterator[Path]:
    """Yield the resolved path, as tracebacks show it, of a temporary directory for one job."""
    with tempfile.TemporaryDirectory(prefix=job_prefix()) as scratch:
        yield Path(scratch).resolve()


def expected_json(scenario: Scenario) -> str:
    """Return the content of `expected.json`, which is always generated from the scenario."""
    return json.dumps(scenario.expected(), indent=2) + "\n"


def _check_size(folder: Path, limit: float) -> None:
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    if size > limit:
        raise HandoverError(f"{folder.name}: {size:,} bytes are too many for a sample run ({limit:,})")
