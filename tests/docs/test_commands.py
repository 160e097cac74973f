"""Every command has examples that work, a version, a manual page and completions for three shells."""

from __future__ import annotations

import re
import runpy
import shlex
import subprocess
from argparse import ArgumentParser
from pathlib import Path

import pytest

from analyzer import __version__
from analyzer.cli.triage_ack import _parser as acknowledging
from tests.recordings import ROOT

COMMANDS = runpy.run_path(str(ROOT / "docs" / "commands.py"))
MAKERS = (*COMMANDS["PARSERS"], COMMANDS["recorder"], acknowledging)
PARSERS = {parser.prog: parser for parser in (make() for make in MAKERS)}
HELPS = {each.prog: each.format_help() for parser in PARSERS.values() for each in COMMANDS["parsers"](parser)}
BASH = """
source share/bash-completion/completions/mwms-analyze
COMP_WORDS=(mwms-analyze --redact to); COMP_CWORD=2; _shtab_mwms_analyze; echo "${COMPREPLY[@]}"
COMP_WORDS=(mwms-analyze ./rul); COMP_CWORD=1; _shtab_mwms_analyze; echo "${COMPREPLY[@]}"
"""


def test_what_is_shared_is_current() -> None:
    """`python docs/generate.py` would change nothing, and nothing lies there that it did not write."""
    made: dict[Path, str] = COMMANDS["shared"]()
    folders = (ROOT / "share", ROOT / "recorder" / "share")
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    there = {path: path.read_text(encoding="utf-8") for path in files}
    assert there == made


@pytest.mark.parametrize("command", HELPS)
def test_the_help_has_examples_that_the_command_takes(command: str) -> None:
    """Each is a call that its parser accepts."""
    _, _, shown = HELPS[command].partition("example")
    calls = re.findall(rf"^  (?:.* \| )?({command}\b.*)", shown, re.MULTILINE)
    assert calls
    for call in calls:
        named = max((name for name in PARSERS if call.startswith(f"{name} ")), key=len, default=command)
        PARSERS[named].parse_args(shlex.split(call.removeprefix(named), comments=True))


@pytest.mark.parametrize("parser", [make() for make in COMMANDS["PARSERS"]], ids=lambda parser: parser.prog)
def test_each_command_tells_its_version_and_completion(
    parser: ArgumentParser, capsys: pytest.CaptureFixture[str]
) -> None:
    """And exits."""
    with pytest.raises(SystemExit, match="0"):
        parser.parse_args(["--version"])
    assert capsys.readouterr().out.splitlines()[0] == f"{parser.prog} {__version__}"
    for shell in ("bash", "fish", "zsh"):
        with pytest.raises(SystemExit, match="0"):
            parser.parse_args(["--print-completion", shell])
        assert parser.prog in capsys.readouterr().out


def test_the_recorder_has_its_files_where_its_command_is() -> None:
    """The wheel of the analyzer installs all of `share/`, and not that command."""
    assert [path for path in (ROOT / "share").rglob("*") if "mwms-recorder" in path.name] == []
    assert (ROOT / "recorder" / "share" / "man" / "man1" / "mwms-recorder.1").exists()


@pytest.mark.processes
def test_bash_completes_options_their_values_and_files() -> None:
    """With the file that is installed."""
    done = subprocess.run(["bash", "-c", BASH], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["topology", "./rules"]
