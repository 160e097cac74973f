"""The sample runs of which the fleet of benchmarks/fleet.py is made: true cause, true kind, diagnosis."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from analyzer.model.task_names import split_task

ROOT = Path(__file__).resolve().parent.parent
GPU_JOB = "cuda-libraries-missing-tf28"
"""A run on machines without CUDA libraries; nothing in it says that the job asked for GPUs."""
_PER_FAULT = (
    *("data.corrupt_record", "data.missing_file", "data.pipeline_error", "hang.at_startup", "peer.vanished"),
    *("storage.access_denied", "storage.unreachable", "user.exception"),
)
"""Causes with as many repairs as there are files, places in the code, or causes behind them."""


class Recording(NamedTuple):
    """A sample run: its planted cause and fault, the causes that are right answers, and its diagnosis.

    `role` is that of the culprits if they are no workers (`ps`, `evaluator`), as repairs differ by role.
    """

    name: str
    cause: str
    document: Mapping[str, Any]
    accepted: tuple[str, ...] = ()
    fault: str = ""
    role: str = ""

    @property
    def workers(self) -> int:
        """Return the number of workers."""
        return len(self.document["workers"])

    @property
    def group(self) -> str:
        """Return the fingerprint, or `healthy`."""
        return "healthy" if self.document["verdict"] == "healthy" else str(self.document["fingerprint"])

    @property
    def truth(self) -> str:
        """Return the planted cause, or the one found if it is accepted because the files tell no more."""
        found = "healthy" if self.group == "healthy" else str(self.document["cause"] or "unknown")
        return found if found in self.accepted else self.cause

    @property
    def kind(self) -> str:
        """Return what one repair would end: the true cause, with the fault if that cause needs several."""
        return f"{self.truth} {self.fault}" if self.truth in _PER_FAULT else self.truth


def recordings(names: Iterable[str] = ()) -> list[Recording]:
    """Return the sample runs with more than one worker, diagnosed."""
    chosen = sorted(names) or sorted(path.parent.name for path in ROOT.glob("sample_runs/*/expected.json"))
    found = [recording(name, ROOT / "sample_runs" / name / "run") for name in chosen]
    return [each for each in found if each.workers > 1]


def recording(name: str, run: Path) -> Recording:
    """Return a sample run with the diagnosis of a directory."""
    from analyzer.pipeline import analyze

    return labelled(name, analyze([run]).document)


def labelled(name: str, document: Mapping[str, Any]) -> Recording:
    """Return a sample run with its labels and a diagnosis."""
    folder = ROOT / "sample_runs" / name
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    origin = (folder / "origin.md").read_text(encoding="utf-8")
    (scenario,) = re.findall(r"`(sample_runs/scenarios/.+\.yaml)`", origin)
    fault = yaml.safe_load((ROOT / scenario).read_text(encoding="utf-8")).get("fault")
    accepted, planted = tuple(expected.get("accept", [])), json.dumps(fault, sort_keys=True)
    role = " ".join(sorted({split_task(each)[0] for each in expected["culprits"]} - {"worker", "chief"}))
    return Recording(name, expected["cause"], document, accepted, planted, role)


def gpu_job() -> Recording:
    """Return the run without CUDA libraries as a job to which Slurm granted two GPUs a machine."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(shutil.copytree(ROOT / "sample_runs" / GPU_JOB / "run", Path(folder) / "run"))
        for worker in range(len([*run.glob("worker-*.log")])):
            granted = "SLURM_JOB_ID=48213\nSLURM_GPUS_ON_NODE=2\nCUDA_VISIBLE_DEVICES=0,1\n"
            (run / f"env-worker-{worker}.txt").write_text(granted, encoding="utf-8")
        return recording(GPU_JOB, run)._replace(accepted=())
