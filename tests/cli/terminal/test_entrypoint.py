"""All commands end alike."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from analyzer.cli import analyze, rules, train
from analyzer.model.errors import NothingReadable, UsageError
from tests.recordings import ROOT

pytestmark = pytest.mark.processes

KILLED = ROOT / "sample_runs" / "worker-killed" / "run"
COMMANDS: dict[str, tuple[Callable[[list[str]], int], str, list[str]]] = {
    "mwms-analyze": (analyze.main, "analyzer.cli.analyze.analyze", [str(KILLED)]),
    "mwms-rules": (rules.main, "analyzer.cli.rules.load_checked", ["lint"]),
    "mwms-train": (train.main, "analyzer.cli.train.catalogue.all_scenarios", ["list"]),
}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize(
    ("error", "status", "says"),
    [
        (UsageError("not so"), 2, "not so"),
        (NothingReadable("nothing"), 4, "nothing"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (RuntimeError("ours"), 70, "internal error; please report it with the lines above"),
        (OSError(28, "No space left on device"), 70, "internal error"),
    ],
)
def test_what_escapes_a_command_is_its_status(
    name: str,
    error: BaseException,
    status: int,
    says: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One line for what the user can mend; a traceback only for what is ours to mend."""

    def broken(*_: object, **_named: object) -> None:
        raise error

    main, inner, arguments = COMMANDS[name]
    monkeypatch.setattr(inner, broken)
    assert main(arguments) == status
    said = capsys.readouterr().err
    assert f"{name}: {says}" in said.splitlines()[-1]
    assert ("Traceback" in said) == (status == 70)


def test_a_wrong_rule_is_2_for_everybody(tmp_path: Path) -> None:
    """It is the user's to mend, so it is no mistake of ours."""
    (tmp_path / "mine.yaml").write_text("id: mine\n", encoding="utf-8")
    assert analyze.main([str(KILLED), "--rules", str(tmp_path)]) == 2
    assert rules.main(["list", "--rules", str(tmp_path)]) == 2


def test_a_closed_standard_output_is_nobody_who_reads(tmp_path: Path) -> None:
    """As a supervisor may start it; the report is a file."""
    done = subprocess.run(
        f"'{sys.executable}' -m analyzer '{KILLED}' -o '{tmp_path}/report.html' >&-", shell=True, cwd=tmp_path,
        stderr=subprocess.PIPE, text=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "")
    assert (tmp_path / "report.html").is_file()


def started(module: str, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    """A command as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("module", "arguments", "says"),
    [("analyzer", ["--version"], "mwms-analyze"), ("analyzer.cli.analyze", ["--version"], "mwms-analyze"),
     ("analyzer.cli.rules", ["list"], "worker-killed"), ("analyzer.cli.train", ["list"], "worker-killed")],
)  # fmt: skip
def test_a_module_of_a_command_is_that_command(module: str, arguments: list[str], says: str) -> None:
    """`python -m` does what the command does."""
    command = started(module, *arguments)
    said, _ = command.communicate()
    assert says in said
    assert command.returncode == 0


@pytest.mark.parametrize("options", [["-o", "-"], ["-o", "-", "--format", "html"], ["-o", "report.html"]])
def test_a_reader_that_has_gone_does_not_change_the_verdict(options: list[str], tmp_path: Path) -> None:
    """`mwms-analyze RUN -o - | head -1` under `pipefail` still says that the job failed."""
    given = [each.replace("report", str(tmp_path / "report")) for each in options]
    command = started("analyzer", str(KILLED), *given)
    assert command.stdout
    assert command.stderr
    command.stdout.close()
    assert (command.wait(), command.stderr.read()) == (1, "")


def test_a_reader_that_goes_early_cuts_other_commands_off() -> None:
    """What was not said was not proved: it is no success."""
    command = started("analyzer.cli.rules", "test", "--verbose", PYTHONUNBUFFERED="1")
    assert command.stdout
    assert command.stderr
    command.stdout.close()
    assert (command.wait(), command.stderr.read()) == (141, "")


@pytest.mark.parametrize("options", [["-o", "report.html"], ["-o", "-"], ["-o", "-", "--format", "json"]])
def test_a_terminal_without_our_signs_is_no_mistake_of_ours(options: list[str], tmp_path: Path) -> None:
    """What it cannot show is replaced; a report is UTF-8 wherever it goes."""
    given = [each.replace("report", str(tmp_path / "report")) for each in options]
    command = started("analyzer", str(KILLED), *given, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    said, complaint = command.communicate()
    assert (command.returncode, complaint) == (1, "")
    assert "worker:2" in said


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full here")
def test_a_full_disk_behind_standard_output_is_said() -> None:
    """In one line."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "analyzer", str(KILLED), "-o", "-"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (2, "mwms-analyze: standard output: No space left on device\n")
