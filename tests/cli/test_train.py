"""What the documents tell people to type is what `mwms-train` takes."""

from __future__ import annotations

import re
import shlex

import pytest

from analyzer.cli.train import _parser
from tests.recordings import ROOT

DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
COMMANDS = sorted(
    {
        line
        for document in DOCUMENTS
        for line in re.findall(
            r"^\s*(?:\S+/)?mwms-train (\w+ [^&\n]*)", document.read_text("utf-8"), re.MULTILINE
        )
    }
)


def test_there_are_some() -> None:
    """Else the next test would test nothing."""
    assert {"record", "matrix", "score"} <= {command.split()[0] for command in COMMANDS}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_documents_is_understood(command: str) -> None:
    """Numbers of workers do not swallow the scenario behind them."""
    args = _parser().parse_args(shlex.split(command, comments=True))
    if command.startswith("matrix --gpu"):
        assert (args.gpu, args.scenarios) == (True, [])
    elif command.startswith("matrix"):
        assert args.scenarios == ["worker-killed", "frozen"]
        assert (args.guilty, args.workers, len(args.python)) == ([0, 2], [2, 4], 2)
