"""One job from its start to its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.trainer.launcher import Launcher
from analyzer.trainer.processes import Crew
from analyzer.trainer.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from analyzer.trainer.audience import Audience
    from analyzer.trainer.interpreter import Interpreter
    from analyzer.trainer.workspace import Workspace


@dataclass(frozen=True)
class Outcome:
    """How each started worker ended, how far it had come, and what was heard in which order."""

    exit_codes: dict[int, int | None]
    steps: dict[int, int]
    stalled: bool
    tf_config: dict[int, str]
    heard: list[tuple[int, bytes]]
    left: dict[str, bytes]
    """What the system wrote besides, by the name of the file."""


def run_job(
    workspace: Workspace, interpreters: Mapping[int, Interpreter], communication: str, audience: Audience
) -> Outcome:
    """Start the workers, let the fault act, and wait for the end."""
    fault = workspace.scenario.make_fault()
    launcher = Launcher(workspace, fault, interpreters, communication)
    try:
        if workspace.hosts:
            workspace.hosts.make()
        fault.before(workspace, launcher.alone)
        fault.prepare(workspace)
        with Crew() as crew:
            watch = Watch(crew, launcher, audience)
            stalled = watch.to_the_end()
            return _outcome(watch, stalled=stalled)
    finally:
        fault.cleanup()
        if workspace.hosts:
            workspace.hosts.remove()


def _outcome(watch: Watch, *, stalled: bool) -> Outcome:
    configs = {index: watch.launcher.tf_config(index) for index in watch.logs}
    return Outcome(
        exit_codes=dict(sorted(watch.crew.exit_codes().items())),
        steps={index: log.step for index, log in watch.logs.items()},
        stalled=stalled,
        tf_config={index: config for index, config in configs.items() if config is not None},
        heard=watch.chunks,
        left=dict(watch.launcher.fault.leaves()),
    )
