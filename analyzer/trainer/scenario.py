"""Loads scenarios: descriptions of one job and its fault."""

from __future__ import annotations

import dataclasses
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from analyzer.trainer.faults import EXTERNAL, FAULTS
from analyzer.trainer.jobs.workloads import workload_names
from analyzer.trainer.layouts import WRAPPED
from analyzer.trainer.scenario_file import ScenarioFile, anything, flag, mapping, one_of, several, text, whole

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.trainer.faults import Fault
    from analyzer.trainer.scenario_file import Check

PARTS = ("logs", "exit_codes", "tf_config", "events", "trace", "disks", "stacks", "gpu")
LAYOUTS = ("flat", "folders", "ranks", "pods", *WRAPPED)
STYLES = ("bar", "epoch", "plain", "logging", "key_value", "absl", "loguru", "structlog", "tqdm")

KEYS: dict[str, Check] = {
    "description": text,
    "workers": whole(1),
    "guilty": anything,
    "seed": whole(0),
    "step": whole(1),
    "fault": mapping,
    "mode": one_of("fit", "custom", "ps", "estimator"),
    "chief": flag,
    "evaluator": flag,
    "workload": one_of(*workload_names()),
    "job": text,
    "job_id": whole(1),
    "needs_gpu": flag,
    "needs_slurm": flag,
    "gpus_per_worker": whole(1),
    "shared_gpus": flag,
    "hosts": flag,
    "host_names": several(),
    "format": one_of("csv", "tfrecord"),
    "parts": whole(1),
    "program": several(),
    "variables": mapping,
    "log_style": one_of(*STYLES),
    "report": one_of("loss", "local_loss", "both"),
    "log_batches": flag,
    "recorder": flag,
    "unbuffered": flag,
    "epochs": whole(1),
    "steps": whole(1),
    "batch_size": whole(1),
    "profile": whole(1),
    "stall_timeout": whole(1),
    "after": whole(1),
    "kill_on_bad_exit": whole(1),
    "layout": one_of(*LAYOUTS),
    "hands_over": several(*PARTS),
    "expect": mapping,
}
REQUIRED = ("description", "workers", "mode", "hands_over", "expect")
EXPECT: dict[str, Check] = {
    "cause": text,
    "culprits": several(),
    "suspects": several(),
    "accept": several(),
    "recorded": mapping,
}
"""Keys of `expect`; `recorded` has those that differ where mwms-recorder saw the job."""


@dataclass(frozen=True)
class Scenario:
    """A valid scenario with all defaults filled in; steps count from 1 through all epochs."""

    name: str
    source: Path
    description: str
    workers: int
    mode: str
    hands_over: tuple[str, ...]
    expect: dict[str, Any]
    guilty: int = 0
    blames: bool = False
    """True if the scenario names one guilty worker, rather than all or none."""
    seed: int = 0
    step: int = 1
    fault: dict[str, Any] = field(default_factory=lambda: {"name": "none"})
    log_style: str = "plain"
    report: str = "loss"
    log_batches: bool = False
    recorder: bool = False
    """True to run the workers under mwms-recorder, and to hand over its recordings alone."""
    unbuffered: bool = True
    epochs: int = 3
    steps: int = 20
    batch_size: int = 64
    profile: int = 8
    stall_timeout: int = 0
    """Seconds without output after which the job is ended; 0 to derive them from workers and load."""
    after: int = 0
    """Seconds after which the fault strikes, for programs that print no steps; 0 to strike at `step`."""
    kill_on_bad_exit: int = 0
    """Seconds from a worker's failure to the end of the job, as with `srun --kill-on-bad-exit`; 0: never."""
    layout: str = "flat"
    chief: bool = False
    evaluator: bool = False
    """True if the last task is an evaluator that is listed in the cluster."""
    needs_gpu: bool = False
    needs_slurm: bool = False
    """True if Slurm itself does what the scenario says, to a job that `sbatch` started."""
    gpus_per_worker: int = 0
    """GPUs that each worker sees; 0 for all."""
    shared_gpus: bool = False
    """True to let workers share GPUs on a machine that has too few for one each."""
    hosts: bool = False
    host_names: tuple[str, ...] = ()
    """Names of the hosts, one per worker; without them, TF_CONFIG has IP addresses."""
    format: str = "csv"
    parts: int = 0
    program: tuple[str, ...] = ()
    """Additional command-line arguments of all workers."""
    variables: dict[str, str] = field(default_factory=dict)
    """Additional environment variables of all workers."""
    workload: str = ""
    """Folder of the program in `workloads/`; empty for the load forecast."""
    job: str = "mnist"
    """Name of the job, as pods and units have it."""
    job_id: int = 48213
    """Number of the job, as Slurm gives it."""

    def task(self, index: int) -> str:
        """Return the task name of a worker: `worker:1`."""
        if self.evaluator and index == self.workers - 1:
            return "evaluator:0"
        first = ["chief:0", "ps:0"] if self.mode == "ps" else ["chief:0"] * self.chief
        return first[index] if index < len(first) else f"worker:{index - len(first)}"

    def make_fault(self) -> Fault:
        """Return a new instance of the scenario's fault, for one job."""
        params = {key: value for key, value in self.fault.items() if key != "name"}
        return FAULTS[self.fault["name"]](guilty=self.guilty, step=self.step, **params)

    def expected(self) -> dict[str, Any]:
        """Return the expected diagnosis, as `expected.json` stores it; suspects are workers of the job.

        `outside` in a scenario stands for the task with the index after the last worker's.
        """
        tasks = {task: task for task in map(self.task, range(self.workers))}
        tasks["guilty"] = self.task(self.guilty)
        tasks["outside"] = f"worker:{self.workers}"
        expect = {**self.expect, **(self.expect.get("recorded", {}) if self.recorder else {})}
        named = {
            key: [tasks[name] for name in expect.get(key, []) if name in tasks]
            for key in ("culprits", "suspects")
        }
        accept = {"accept": expect["accept"]} if expect.get("accept") else {}
        return {"cause": expect["cause"], **named, **accept}


def load_scenario(path: Path, guilty: int | None = None, workers: int | None = None) -> Scenario:
    """Load and check a scenario file; `guilty` and `workers` override the file."""
    file = ScenarioFile.read(path)
    asked = {"guilty": guilty, "workers": workers}
    file.values.update({key: value for key, value in asked.items() if value is not None})
    file.check((), KEYS, REQUIRED)
    file.check(("expect",), EXPECT, ("cause", "culprits"))
    if "recorded" in file.values["expect"]:
        file.check(("expect", "recorded"), EXPECT, ())
    values = dict(file.values)
    values["blames"] = "guilty" in values
    values["guilty"] = _guilty(file, values)
    values["hands_over"] = tuple(values["hands_over"])
    values["program"] = tuple(values.get("program", ()))
    values["host_names"] = tuple(values.get("host_names", ()))
    scenario = Scenario(name=path.stem, source=path, **values)
    _check_hosts(file, scenario)
    _check_fault(file, scenario)
    return scenario


def _guilty(file: ScenarioFile, values: dict[str, Any]) -> int:
    """Return the guilty worker's index; `random` draws it with the scenario's seed."""
    guilty, workers = values.get("guilty", 0), values["workers"]
    if guilty == "random":
        if "seed" not in values:
            raise file.error(("guilty",), "`guilty: random` needs a `seed`")
        return random.Random(values["seed"]).randrange(workers)  # noqa: S311 - to be repeatable
    if type(guilty) is not int or not 0 <= guilty < workers:
        raise file.error(("guilty",), f"guilty must be `random` or an index from 0 to {workers - 1}")
    return guilty


def _check_hosts(file: ScenarioFile, scenario: Scenario) -> None:
    """Raise ScenarioError if some hosts have names and others do not, or if the workers share a host."""
    if scenario.host_names and not (scenario.hosts and len(scenario.host_names) == scenario.workers):
        message = "host_names needs `hosts: true`, and one name for each worker"
        raise file.error(("host_names",), message)


def _check_fault(file: ScenarioFile, scenario: Scenario) -> None:
    name = scenario.fault.get("name")
    if name not in FAULTS:
        raise file.error(("fault", "name"), f"no such fault: {name!r} (one of: {', '.join(FAULTS)})")
    if scenario.workload and name not in (*EXTERNAL, "arguments"):
        raise file.error(("fault", "name"), f"the fault {name} needs the load forecast, not a workload")
    known = {part.name for part in dataclasses.fields(FAULTS[name]) if part.init} - {"guilty", "step"}
    file.check(("fault",), dict.fromkeys(known | {"name"}, anything), ())
    if scenario.step > scenario.epochs * scenario.steps:
        raise file.error(("step",), f"the job has only {scenario.epochs * scenario.steps} steps")
    try:
        scenario.make_fault().check(scenario)
    except ValueError as error:
        raise file.error(("fault",), str(error)) from error
