"""A platform that does not answer is told once, and nothing is concluded from its silence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analyzer.cli.collect import main
from analyzer.collect.commands import Commands, Outcome

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


@pytest.mark.processes
def test_a_host_without_answer_leaves_no_directory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """So that the same command can be given again."""
    for tool in ("rsync", "ssh"):
        (tmp_path / tool).write_text("#!/bin/sh\nexit 255\n", encoding="utf-8")
        (tmp_path / tool).chmod(0o755)
    again = [main(["ssh", "gpu21", "--path", "/x", "-o", str(tmp_path / "run")]) for _ in range(2)]
    assert again == [4, 4]
    assert not (tmp_path / "run").exists()


@pytest.mark.processes
def test_the_account_is_shown_on_the_terminal_and_masked_in_files(tmp_path: Path) -> None:
    """It is what the administrator asks for; a token stays hidden, and equal secrets are equal in all files."""
    words = "alice@example.com may not: token=hunter2hunter2xyz"
    heard: list[Outcome] = []
    commands = Commands(tmp_path, heard.append, timeout=60)
    commands.save("worker-0.log", "sh", "-c", 'echo "$0" >&2; exit 1', words)
    commands.write_json("pods.json", {"user": "alice@example.com"})
    assert heard[0].error.startswith("alice@example.com may not: token=[secret:")
    account = json.loads((tmp_path / "pods.json").read_text())["user"]
    assert account.startswith("[secret:email:")
    assert commands.lost["worker-0.log"].startswith(f"{account} may not: token=[secret:")


PROJECT = (
    "Failed to find attribute [project]. It can be set in the following ways:",
    "- provide the argument `--project`",
    "- set the property `core/project`",
)
REFUSED = "ssh: connect to host gpu21 port 22: Connection refused"


@pytest.mark.processes
@pytest.mark.parametrize(
    ("printed", "told"),
    [
        (("Updating…", "ERROR: (gcloud.ai) No job.", *PROJECT), " ".join(("ERROR: (gcloud.ai) No job.", *PROJECT))),
        ((REFUSED, "rsync: connection unexpectedly closed", "rsync error: code 255"), REFUSED),
        (("Host key verification failed.", "rsync error: code 255"), "Host key verification failed."),
        (("rsync: [sender] no file /x", "rsync error: code 23"), "rsync: [sender] no file /x rsync error: code 23"),
        (("Warning: new host key", REFUSED), REFUSED),
        (("E1123 1 memcache.go:265] refused", "The connection was refused"), "The connection was refused"),
        ((), "exit status 9"),
    ],
)  # fmt: skip
def test_the_message_of_a_tool_is_not_cut_to_its_last_line(
    printed: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    """It reaches from the line that begins it up to the next one."""
    script = 'printf "%s\\n" "$@" >&2; exit 9' if printed else "exit 9"
    heard: list[Outcome] = []
    Commands(tmp_path, heard.append, timeout=60).query("sh", "-c", script, "sh", *printed)
    assert [outcome.error for outcome in heard] == [told]
