"""The composite GitHub Action: its steps are well formed, and its script does what they say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from analyzer.render import render
from tests.recordings import ROOT
from tests.render.documents import ALL, document, load, rendered

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = ACTION["runs"]["steps"]
SCRIPT = ROOT / "deploy" / "github" / "analyze.sh"
COMMAND = re.compile(r"::(error|warning|notice) title=[^,:]+(,file=[^,:]+(,line=\d+)?)?::[^\r\n]+")


def test_inputs_and_outputs_are_used() -> None:
    """All that are declared, and no others; no input is pasted into a script."""
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == set(ACTION["inputs"])
    told = set(re.findall(r"outputs\.([\w-]+)", text))
    assert told == set(ACTION["outputs"])
    assert all(f'"{name}=' in SCRIPT.read_text() or f"{name}=" in SCRIPT.read_text() for name in told)
    assert not any("${{" in step.get("run", "") for step in STEPS)
    assert all(step["shell"] == "bash" for step in STEPS if "run" in step)
    assert all(re.fullmatch(r"actions/[\w-]+@v\d+", step["uses"]) for step in STEPS if "uses" in step)


def run_step(
    tmp_path: Path, run: Path, **given: str
) -> tuple[subprocess.CompletedProcess[str], dict[str, str]]:
    """Run the script of the action as a runner does; return what it printed, and its outputs."""
    for name in ("summary", "output"):
        (tmp_path / name).touch()
    tools = tmp_path / "bin"
    tools.mkdir(exist_ok=True)
    (tools / "mwms-analyze").write_text(f'#!/bin/sh\nexec {sys.executable} -m analyzer "$@"\n')
    (tools / "mwms-analyze").chmod(0o755)
    environment = {
        **os.environ, "PATH": f"{tools}:{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT),
        "RUNNER_TEMP": str(tmp_path), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        "GITHUB_OUTPUT": str(tmp_path / "output"), "RUN": str(run), **given,
    }  # fmt: skip
    done = subprocess.run(["bash", SCRIPT], env=environment, capture_output=True, text=True, check=False)
    lines = (tmp_path / "output").read_text().splitlines()
    return done, dict(line.split("=", 1) for line in lines)


@pytest.mark.processes
def test_a_failed_run_fails_the_step(tmp_path: Path) -> None:
    """With annotations, the job's summary, outputs, and reports to keep."""
    done, outputs = run_step(tmp_path, ROOT / "sample_runs" / "worker-killed" / "run")
    assert done.returncode == 1, done.stderr
    annotations = [line for line in done.stdout.splitlines() if line.startswith("::")]
    assert annotations[0].startswith("::error title=✕ Failed · culprit worker%3A2 · peer.killed")
    assert "\n| Decision | | |\n" in (tmp_path / "summary").read_text()
    assert {**outputs, "reports": ""} == {
        "verdict": "failed",
        "cause": "peer.killed",
        "culprits": "worker:2",
        "reports": "",
    }
    kept = {path.suffix for path in Path(outputs["reports"]).iterdir()}
    assert kept == {".html", ".json", ".md", ".xml", ".sarif"}


@pytest.mark.processes
def test_a_step_that_may_not_fail_passes(tmp_path: Path) -> None:
    """And one without a run ends with the status of the analyzer and its words."""
    run = tmp_path / "run"
    run.mkdir()
    (run / "worker-0.log").write_text("step 1 loss 0.5\n")
    assert run_step(tmp_path, run, FAIL_ON="never")[0].returncode == 0
    done, _ = run_step(tmp_path, tmp_path / "nowhere")
    assert done.returncode == 4
    assert "mwms-analyze: " in done.stderr


@pytest.mark.parametrize("name", ALL)
def test_annotations_are_workflow_commands(name: str) -> None:
    """A line each, ten at most, whatever the run is called; nothing of a run begins a command of its own."""
    lines = rendered(name, "github").splitlines()
    assert 0 < len(lines) <= 10
    assert all(COMMAND.fullmatch(line) for line in lines), lines
    levels = {"failed": "error", "healthy": "notice"}
    assert lines[0].startswith(f"::{levels.get(document(name)['verdict'], 'warning')} ")


def test_what_ends_a_command_is_escaped() -> None:
    """A line break, a per cent sign; in a title a colon and a comma."""
    told: Any = load("r101")
    told["summary"] = "50 %\n::stop-commands::x"
    first = render(told, "github").splitlines()[0]
    assert first.endswith("::50 %25 ⏎ ::stop-commands::x")
    assert "culprit worker%3A2" in first
