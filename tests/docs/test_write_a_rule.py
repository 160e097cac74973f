"""The guide for authors is true: its blocks are run in order, as a reader would."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.recordings import ROOT

pytestmark = pytest.mark.processes

GUIDE = (ROOT / "docs" / "write-a-rule.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\S+) ?(.*)\n((?:.*\n)*?)```$", GUIDE, re.MULTILINE)


@pytest.fixture
def commands(tmp_path: Path) -> Path:
    """A directory with the commands of this very checkout."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("analyze", "rules"):
        script = folder / f"mwms-{name}"
        code = f"import sys; from analyzer.cli.{name} import main; sys.exit(main())"
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{code}" "$@"\n', encoding="utf-8")
        script.chmod(0o755)
    return folder


def test_every_step_of_the_guide_works(tmp_path: Path, commands: Path) -> None:
    """Files are written, commands succeed, and their output holds what the guide shows of it."""
    here, said = tmp_path / "here", ""
    here.mkdir()
    for language, what, text in BLOCKS:
        if language == "sh":
            said = shell(text, here, commands)
        elif what == "output":
            assert text.strip() in said
        else:
            (here / what).parent.mkdir(exist_ok=True)
            (here / what).write_text(text, encoding="utf-8")


def test_the_guide_ends_with_its_cases_passing() -> None:
    """Nothing of the guide is skipped, and the last thing that a reader sees is the proof."""
    assert BLOCKS[-2][2] == "mwms-rules test my-rules\n"
    assert len(BLOCKS) == GUIDE.count("```") / 2


def shell(text: str, here: Path, commands: Path) -> str:
    """What a block prints; it ends with exit status 0."""
    environment = {**os.environ, "PATH": f"{commands}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "-euc", text], cwd=here, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
