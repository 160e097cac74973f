"""The release workflow is well formed, and refuses a tag that is not the version."""

from __future__ import annotations

import os
import re
import subprocess
import sys
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


@pytest.mark.processes
@pytest.mark.parametrize(("tag", "status"), [(f"v{__version__}", 0), ("v99.0.0", 1), (__version__, 1)])
def test_a_tag_has_to_be_the_version(tag: str, status: int) -> None:
    """Else nothing is built."""
    (check,) = (step["run"] for step in STEPS if step.get("name") == "Compare the tag with the version")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", check], cwd=ROOT, env={"PATH": path, "GITHUB_REF_NAME": tag}, check=False
    )
    assert done.returncode == status
