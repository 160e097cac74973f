"""What starts the trainer on clusters is what its own judges accept, and every command line in it is ours."""

from __future__ import annotations

import re
import shlex
import subprocess
from typing import Any

import kubernetes_validate
import pytest
import yaml

from analyzer.cli.train import _parser
from tests.recordings import ROOT

DEPLOY = ROOT / "deploy" / "trainer"
VERSIONS = (kubernetes_validate.latest_version(), "1.29")


def manifest(name: str) -> Any:
    """Read one of the files."""
    return yaml.safe_load((DEPLOY / name).read_text(encoding="utf-8"))


def pod_of(document: Any) -> Any:
    """The template of the workers' pods."""
    spec = document["spec"]
    return spec["template"] if "template" in spec else spec["tfReplicaSpecs"]["Worker"]["template"]


def commands() -> list[list[str]]:
    """The arguments of `mwms-train` in each file."""
    script = (DEPLOY / "job.sbatch").read_text(encoding="utf-8")
    (line,) = re.findall(r"^srun .*mwms-train (.*)$", script, re.MULTILINE)
    services = manifest("compose.yaml")["services"].values()
    pods = [pod_of(manifest(name)) for name in ("indexed-job.yaml", "tfjob.yaml")]
    return [
        shlex.split(line.replace("${WORKER_OPTIONS:-}", "")),
        *(service["command"] for service in services),
        *(pod["spec"]["containers"][0]["args"] for pod in pods),
    ]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_indexed_job_is_valid(version: str) -> None:
    """By the schemas of Kubernetes, and nothing in it that they do not know."""
    job = manifest("indexed-job.yaml")
    kubernetes_validate.validate(job, version, strict=True)
    job["spec"]["completionModee"] = "Indexed"
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(job, version, strict=True)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_pods_of_the_tfjob_are_valid(version: str) -> None:
    """Kubernetes has no schema of a TFJob itself: its pods are judged as those of a Job."""
    job = manifest("indexed-job.yaml")
    job["spec"]["template"] = pod_of(manifest("tfjob.yaml"))
    job["spec"]["template"]["spec"]["restartPolicy"] = "Never"
    kubernetes_validate.validate(job, version, strict=True)


def test_an_indexed_job_says_how_many_tasks_it_has() -> None:
    """Its pods know their index alone."""
    job = manifest("indexed-job.yaml")
    values = {one["name"]: one.get("value") for one in pod_of(job)["spec"]["containers"][0]["env"]}
    assert values["JOB_COMPLETIONS"] == str(job["spec"]["completions"]) == str(job["spec"]["parallelism"])


def test_every_command_line_is_understood() -> None:
    """By the command itself."""
    parsed = [_parser().parse_args(command) for command in commands()]
    assert all(one.shared for one in parsed)
    assert [one.rank.index for one in parsed if one.rank] == [0, 1, 2]


@pytest.mark.processes
def test_the_shell_understands_the_batch_script() -> None:
    """And Slurm's options stand before the first command, where alone it reads them."""
    subprocess.run(["bash", "-n", str(DEPLOY / "job.sbatch")], check=True)
    lines = (DEPLOY / "job.sbatch").read_text(encoding="utf-8").splitlines()
    code = next(number for number, line in enumerate(lines) if line and not line.startswith("#"))
    assert [number for number, line in enumerate(lines) if line.startswith("#SBATCH") and number > code] == []


def test_what_the_image_copies_is_there() -> None:
    """As that of the analyzer, it is built from the checkout."""
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    names = [name for line in re.findall(r"^COPY (.+)$", text, re.MULTILINE) for name in line.split()[:-1]]
    assert all((ROOT / name).exists() for name in names)
    assert {"trainer", "trainer-gpu"} <= set(re.findall(r"trainer(?:-gpu)?", text))
