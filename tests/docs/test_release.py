"""The release workflow is well formed, and refuses a tag that is not the version."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from analyzer import __version__
from tests.recordings import ROOT

WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = [step for job in WORKFLOW["jobs"].values() for step in job["steps"]]


def test_no_expression_is_pasted_into_a_script() -> None:
    """What comes from outside comes in variables; actions have a version."""
    assert not [step for step in STEPS if "${{" in step.get("run", "")]
    assert all(re.fullmatch(r"actions/[\w-]+@v\d+", step["uses"]) for step in STEPS if "uses" in step)
    assert WORKFLOW["permissions"] == {"contents": "read"}


def test_jobs_wait_for_the_build() -> None:
    """Nothing is published that was not built and tried."""
    assert {name for name, job in WORKFLOW["jobs"].items() if job.get("needs") == "build"} == {
        "image",
        "release",
    }


def script(name: str) -> str:
    """Return what the step of that name runs."""
    (found,) = (step["run"] for step in STEPS if step.get("name") == name)
    return str(found)


@pytest.mark.processes
def test_the_metadata_link_to_the_repository_of_the_release(tmp_path: Path) -> None:
    """Both distributions: nobody has to know the address before there is one."""
    for project in ("", "recorder"):
        (tmp_path / project).mkdir(exist_ok=True)
        shutil.copy(ROOT / project / "pyproject.toml", tmp_path / project)
    own = {
        "GITHUB_SERVER_URL": "https://git.example",
        "GITHUB_REPOSITORY": "acme/mwms",
        "GITHUB_REF_NAME": "v1",
    }
    add = script("Add the address of this repository to the metadata")
    subprocess.run(["bash", "-c", add], cwd=tmp_path, env=own, check=True)
    read = {
        project: tomllib.loads((tmp_path / project / "pyproject.toml").read_text())
        for project in ("", "recorder")
    }
    assert read[""]["project"]["urls"] == {
        "Source": "https://git.example/acme/mwms",
        "Issues": "https://git.example/acme/mwms/issues",
        "Documentation": "https://git.example/acme/mwms/tree/v1/docs",
        "Changelog": "https://git.example/acme/mwms/blob/v1/CHANGELOG.md",
    }
    assert read["recorder"]["project"]["urls"] == {"Source": "https://git.example/acme/mwms"}


@pytest.mark.processes
@pytest.mark.parametrize(("tag", "status"), [(f"v{__version__}", 0), ("v99.0.0", 1), (__version__, 1)])
def test_a_tag_has_to_be_the_version(tag: str, status: int) -> None:
    """Else nothing is built."""
    check = script("Compare the tag with the version")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", check], cwd=ROOT, env={"PATH": path, "GITHUB_REF_NAME": tag}, check=False
    )
    assert done.returncode == status
