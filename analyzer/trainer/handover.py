"""The run directory, as a user would hand it over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from analyzer.trainer.job import Outcome
    from analyzer.trainer.neutral import Neutral
    from analyzer.trainer.workspace import Workspace


class HandoverError(UserError):
    """What a job left cannot be handed over."""


def check_target(target: Path) -> None:
    """Refuse a place where something lies already."""
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise HandoverError(f"{target}: exists and is not an empty directory")


def hand_over(workspace: Workspace, outcome: Outcome, neutral: Neutral, target: Path) -> None:
    """Write what the scenario hands over, in its layout and with neutral paths."""
    for part in workspace.scenario.hands_over:
        for name, content in PARTS[part](workspace, outcome):
            _write(target / name, content, neutral, binary=part in {"events", "trace"})


def _write(path: Path, content: bytes, neutral: Neutral, *, binary: bool) -> None:
    """Write one file; a binary one must be clean, since replacing in it would break the lengths it holds."""
    if binary and (found := neutral.check(content)):
        raise HandoverError(f"{path.name}: names {found}, a path of this machine")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if binary else neutral.text(content))


def _logs(workspace: Workspace, outcome: Outcome) -> Iterator[tuple[str, bytes]]:
    for index in outcome.exit_codes:
        if workspace.scenario.layout == "flat":
            yield f"worker-{index}.log", workspace.log(index, "out").read_bytes()
            continue
        yield f"worker_{index}/stdout.txt", workspace.log(index, "out").read_bytes()
        yield f"worker_{index}/stderr.txt", workspace.log(index, "err").read_bytes()


def _exit_codes(_: Workspace, outcome: Outcome) -> Iterator[tuple[str, bytes]]:
    lines = [f"worker-{index} {code}\n" for index, code in sorted(outcome.exit_codes.items())]
    yield "exit_codes.txt", "".join(lines).encode()


def _tf_config(workspace: Workspace, outcome: Outcome) -> Iterator[tuple[str, bytes]]:
    for index in outcome.exit_codes:
        flat = workspace.scenario.layout == "flat"
        name = f"tf_config-{index}.json" if flat else f"worker_{index}/tf_config.json"
        yield name, workspace.tf_config(index).encode() + b"\n"


def _board(pattern: str) -> Callable[[Workspace, Outcome], Iterator[tuple[str, bytes]]]:
    """Return the files below each worker's TensorBoard folder that have such a name."""

    def files(workspace: Workspace, outcome: Outcome) -> Iterator[tuple[str, bytes]]:
        for index in outcome.exit_codes:
            board = workspace.folder(index) / "tb"
            for path in sorted(board.rglob(pattern)):
                yield f"tb/worker-{index}/{path.relative_to(board)}", path.read_bytes()

    return files


PARTS = {
    "logs": _logs,
    "exit_codes": _exit_codes,
    "tf_config": _tf_config,
    "events": _board("events.out.tfevents.*"),
    "trace": _board("*.xplane.pb"),
}
