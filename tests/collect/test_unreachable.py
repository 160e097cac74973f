"""A platform that does not answer is told once, and nothing is concluded from its silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.cli.collect import main

FATAL = "fatal: Could not reach the server"


@pytest.fixture(autouse=True)
def broken_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every tool of the platforms fail with one message, some with their own name in front."""
    for name in ("kubectl", "sacct", "scontrol", "docker"):
        tool = tmp_path / name
        prefix = f"{name}: " if name in {"sacct", "scontrol"} else ""
        tool.write_text(f"#!/bin/sh\necho '{prefix}{FATAL}' >&2\nexit 1\n", encoding="utf-8")
        tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")


@pytest.mark.processes
@pytest.mark.parametrize("dry", [["--dry-run"], []], ids=["planned", "collected"])
@pytest.mark.parametrize("job", [["k8s", "tfjob/bert"], ["slurm", "48213"], ["docker", "bert"]], ids=" ".join)
def test_an_error_of_the_tool_is_told_once(
    job: list[str], dry: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the exit status of nothing that could be read, and without a guess at what there is."""
    assert main([*job, "-o", str(tmp_path / "run"), *dry]) == 4
    told = capsys.readouterr().err.splitlines()
    assert [line.endswith(FATAL) for line in told] == [True, False]
    assert told[1] == "mwms-collect: nothing could be collected"
