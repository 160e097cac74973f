"""Writes the run directory of a job, with the files that a user would collect."""

from __future__ import annotations

import gzip
import tempfile
from typing import TYPE_CHECKING

from analyzer.model.errors import UserError
from analyzer.trainer.layouts import WRAPPED, Job, files_of, lines_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from analyzer.trainer.jobs.job import Outcome
    from analyzer.trainer.jobs.sandbox.workspace import Workspace
    from analyzer.trainer.path_anonymizer import PathAnonymizer

NAMES = {"flat": "{task}.log", "ranks": "logs/rank{index}.out", "pods": "{job}-{task}.log"}


class HandoverError(UserError):
    """The run directory of a job cannot be written, or would name a path of this machine."""


def check_target(target: Path) -> None:
    """Check, before a job runs, that its run directory can be written to `target`.

    Raises:
        HandoverError: the target is not an empty directory, or cannot be written.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise HandoverError(f"{target}: exists and is not an empty directory")
    check_writable(target)


def check_writable(folder: Path) -> None:
    """Create a directory if it is missing; raise HandoverError if no file can be written in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise HandoverError(f"{folder}: cannot be written: {error.strerror}") from error


def hand_over(workspace: Workspace, outcome: Outcome, anonymizer: PathAnonymizer, target: Path) -> None:
    """Write the run directory: files listed in `hands_over`, in the scenario's layout, paths anonymized."""
    # the reports on GPUs (`gpu`) are in `outcome.left`
    wanted = set() if workspace.recordings else set(workspace.scenario.hands_over)
    for part in PARTS.keys() & wanted:
        for name, content in PARTS[part](workspace, outcome):
            _write(target / name, content, anonymizer, binary=part in {"events", "trace"})
    for name, content in outcome.left.items():
        _write(target / name, content, anonymizer, binary=False)


def _write(path: Path, content: bytes, anonymizer: PathAnonymizer, *, binary: bool) -> None:
    """Write one file; paths of this machine are replaced in text, and a HandoverError in binary data."""
    if binary and (found := anonymizer.check(content)):
        raise HandoverError(f"{path.name}: names {found}, a path of this machine")
    path.parent.mkdir(parents=True, exist_ok=True)
    written = content if binary else anonymizer.text(content)
    path.write_bytes(gzip.compress(written, mtime=0) if path.suffix == ".gz" else written)


def _logs(workspace: Workspace, outcome: Outcome) -> Iterator[tuple[str, bytes]]:
    scenario, layout = workspace.scenario, workspace.scenario.layout
    if layout in WRAPPED:
        job = Job(scenario.job, scenario.job_id, scenario.host_names)
        yield from files_of(layout, lines_of(outcome.output), job)
        return
    for index in outcome.exit_codes:
        out, task = workspace.log(index, "out"), workspace.name(index)
        if layout == "folders":
            folder = task.replace("-", "_")
            yield f"{folder}/stdout.txt", out.read_bytes()
            yield f"{folder}/stderr.txt", workspace.log(index, "err").read_bytes()
        else:
            yield NAMES[layout].format(index=index, task=task, job=scenario.job), out.read_bytes()


def _exit_codes(workspace: Workspace, outcome: Outcome) -> Iterator[tuple[str, bytes]]:
    codes = {index: "running" if code is None else code for index, code in outcome.exit_codes.items()}
    lines = [f"{workspace.name(index)} {code}\n" for index, code in sorted(codes.items())]
    yield "exit_codes.txt", "".join(lines).encode()


def _tf_config(workspace: Workspace, outcome: Outcome) -> Iterator[tuple[str, bytes]]:
    for index, content in sorted(outcome.tf_config.items()):
        task = workspace.name(index)
        folders = workspace.scenario.layout == "folders"
        name = f"{task.replace('-', '_')}/tf_config.json" if folders else f"tf_config-{index}.json"
        yield name, content.encode() + b"\n"


def _disks(_: Workspace, outcome: Outcome) -> Iterator[tuple[str, bytes]]:
    for task, output in sorted(outcome.disks.items()):
        yield f"df-{task}.txt", output


def _stacks(_: Workspace, outcome: Outcome) -> Iterator[tuple[str, bytes]]:
    for task, output in sorted(outcome.stacks.items()):
        yield f"py-spy-{task}.txt", output


def _board(pattern: str) -> Callable[[Workspace, Outcome], Iterator[tuple[str, bytes]]]:
    """Return a function that yields the files that match a pattern below each worker's TensorBoard folder."""

    def files(workspace: Workspace, outcome: Outcome) -> Iterator[tuple[str, bytes]]:
        for index in outcome.exit_codes:
            board = workspace.folder(index) / "tb"
            for path in sorted(board.rglob(pattern)):
                yield f"tb/{workspace.name(index)}/{path.relative_to(board)}", path.read_bytes()

    return files


PARTS = {
    "logs": _logs,
    "exit_codes": _exit_codes,
    "tf_config": _tf_config,
    "disks": _disks,
    "stacks": _stacks,
    "events": _board("events.out.tfevents.*"),
    "trace": _board("*.xplane.pb"),
}
