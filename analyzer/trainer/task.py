"""Runs one task of a scenario that a scheduler started on its own host."""

from __future__ import annotations

import dataclasses
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.trainer.handover import HandoverError, check_writable
from analyzer.trainer.jobs.job import run_job
from analyzer.trainer.jobs.rank import meet, own_address
from analyzer.trainer.jobs.sandbox.leftovers import job_prefix
from analyzer.trainer.jobs.sandbox.workspace import RUN, Workspace
from analyzer.trainer.record import expected_json

if TYPE_CHECKING:
    from analyzer.trainer.jobs.job import Outcome
    from analyzer.trainer.jobs.observer import JobObserver
    from analyzer.trainer.jobs.programs import Program
    from analyzer.trainer.jobs.rank import Rank
    from analyzer.trainer.scenario import Scenario

PARTS = ("logs", "exit_codes", "tf_config")
MEETING_SECONDS = 300.0
STALLED = 124
"""Exit status of a task that was ended because of a stall, the same as that of `timeout`."""


def run_task(
    scenario: Scenario, rank: Rank, program: Program, observer: JobObserver, shared: Path, host: str | None
) -> int:
    """Run the task of a rank and return its exit status; for a signal, 128 plus its number.

    Writes the log to `shared/SCENARIO/run` while the task runs, then exit code and TF_CONFIG if they are in
    `hands_over`; under mwms-recorder its recording is there instead, and the log in `shared/SCENARIO/logs`.
    Beside `run`, the guilty task writes the proof of the fault, and rank 0 `expected.json`.
    """
    if scenario.hosts:
        raise HandoverError(f"{scenario.name}: has hosts of its own, which a cluster has already")
    home = shared / scenario.name
    check_writable(home / RUN)
    logs = home / ("logs" if scenario.recorder else RUN)
    check_writable(logs)
    chief, parts = scenario.chief or rank.chief, tuple(part for part in PARTS if part in scenario.hands_over)
    parts = () if scenario.recorder else parts
    scenario = dataclasses.replace(scenario, workers=rank.count, chief=chief, layout="flat", hands_over=parts)
    if rank.index == 0:
        (home / "expected.json").write_text(expected_json(scenario))
    addresses = rank.addresses or meet(home / _meeting(), rank, own_address(host), MEETING_SECONDS)
    with tempfile.TemporaryDirectory(prefix=job_prefix()) as scratch:
        workspace = Workspace.create(Path(scratch).resolve(), scenario, program.install)
        workspace = dataclasses.replace(workspace, addresses=addresses, logs=logs)
        try:
            outcome = run_job(workspace, program, observer, rank.index)
        finally:  # a scheduler that ends the job leaves some seconds
            anonymizer = program.anonymizer(workspace)
            for path in _written(workspace, rank.index):
                path.write_bytes(anonymizer.text(path.read_bytes()))
    return _write_results(workspace, outcome, rank, home)


def _written(workspace: Workspace, index: int) -> list[Path]:
    """Return the log of a task and the files of its recordings, as far as there are any."""
    name, out = workspace.name(index), workspace.recordings
    recorded = [*out.glob(f"{name}/*"), *out.glob(f"{name}.*/*")] if out else []
    return [path for path in (workspace.log(index, "out"), *recorded) if path.is_file()]


def _write_results(workspace: Workspace, outcome: Outcome, rank: Rank, home: Path) -> int:
    """Write the files of a finished task other than its log, and return its exit status."""
    scenario, name = workspace.scenario, workspace.name(rank.index)
    if outcome.witness:
        (home / f"witness-{rank.index}.txt").write_text(outcome.witness + "\n")
    for config in outcome.tf_config.values() if "tf_config" in scenario.hands_over else ():
        (home / RUN / f"tf_config-{rank.index}.json").write_text(config + "\n")
    for content_name, content in ({} if workspace.recordings else outcome.left).items():
        (home / RUN / content_name).write_bytes(content)
    if rank.index not in outcome.exit_codes:
        return 0
    code = outcome.exit_codes[rank.index]
    if "exit_codes" in scenario.hands_over:
        state = "running" if code is None else code
        (home / RUN / f"exit_code-{name}.txt").write_text(f"{name} {state}\n")
    if code is None:
        return STALLED
    return 128 - code if code < 0 else code


def _meeting() -> str:
    """Return a name that is the same for all tasks of one job, and another one after a requeue.

    In the directory of this name the tasks tell each other their addresses.
    """
    names = ("SLURM_JOB_ID", "SLURM_RESTART_COUNT", "PMIX_NAMESPACE", "JOB_NAME")
    return "-".join(["tasks", *(os.environ[name] for name in names if name in os.environ)])
