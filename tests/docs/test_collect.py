"""The recipes for collecting a run give files that are read as the page says."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from analyzer.discover import discover
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "collect.md").read_text(encoding="utf-8")
FILES = re.findall(r"^\| `([^`]+)` \| (\w+)(?: of (\S+))? \|", PAGE, re.MULTILINE)
COMMANDS = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize(("name", "kind", "worker"), FILES)
def test_a_file_is_read_as_the_page_says(tmp_path: Path, name: str, kind: str, worker: str) -> None:
    """As that kind of source, and of that worker where the page names one."""
    (tmp_path / "run" / name).parent.mkdir(parents=True)
    (tmp_path / "run" / name).write_text("step 1 loss 0.5\n")
    (source,) = discover([tmp_path / "run"]).sources
    assert (source.kind.value, source.worker or "") == (kind, worker)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_shell_understands_the_commands(command: str) -> None:
    """They are syntactically right; the tools themselves are not here."""
    subprocess.run(["bash", "-n"], input=command, text=True, check=True, capture_output=True)
