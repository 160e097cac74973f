"""Monitors a job until it ends or stalls (no output, or no step, for too long)."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.trainer.jobs.observer import WorkerStatus
from analyzer.trainer.jobs.step_counter import StepCounter
from analyzer.trainer.layouts import Chunk

if TYPE_CHECKING:
    from analyzer.trainer.jobs.launcher import Launcher
    from analyzer.trainer.jobs.observer import JobObserver
    from analyzer.trainer.jobs.processes import WorkerProcesses
    from analyzer.trainer.witness.evidence import Evidence

POLL_SECONDS = 0.02
CHIEF = 0
PATIENCE = 20
"""Seconds without output until a job counts as stalled, for up to three processes on two idle cores."""
TALK = 3
"""Multiple of the timeout for output without a step: an Estimator retries its session for ever."""


@dataclass
class JobMonitor:
    """Starts the workers when they are due, reads their logs, and lets the fault act on steps."""

    launcher: Launcher
    observer: JobObserver
    evidence: Evidence
    only: int | None = None
    """Index of the only worker to start here; None for all."""
    due: dict[int, float] = field(default_factory=dict)
    logs: dict[int, StepCounter] = field(default_factory=dict)
    errors: dict[int, StepCounter] = field(default_factory=dict)
    chunks: list[Chunk] = field(default_factory=list)
    heard: float = 0.0
    spoke: set[int] = field(default_factory=set)
    """Indices of the workers that have written anything."""
    advanced: float = 0.0
    """Monotonic time of the last progress: a worker reached a step, was started or ended."""
    alive: list[int] = field(default_factory=list)
    shown: list[WorkerStatus] = field(default_factory=list)

    def __post_init__(self) -> None:
        workspace, fault = self.launcher.workspace, self.launcher.fault
        scenario, self.heard = workspace.scenario, time.monotonic()
        self.advanced = self.heard
        here = range(scenario.workers) if self.only is None else [self.only]
        for index in filter(fault.should_start, here):
            self.due[index] = self.heard + fault.delay(index)
            self.logs[index] = StepCounter(workspace.log(index, "out"), scenario.steps)
            if scenario.layout == "folders":
                self.errors[index] = StepCounter(workspace.log(index, "err"), scenario.steps)

    @property
    def workers(self) -> WorkerProcesses:
        """Return the processes of the workers."""
        return self.evidence.workers

    def run_to_end(self) -> bool:
        """Start and monitor the workers until the job ends; return True if it stalled instead."""
        while self.due or self.alive or self.launcher.fault.is_busy():
            self._start_those_due()
            time.sleep(POLL_SECONDS)
            self._listen()
            self._note_who_ended()
            self._show()
            self._end_after_failure()
            if self.alive and self._is_stalled(self._stall_timeout()):
                return True
        return False

    def _end_after_failure(self) -> None:
        """End the job `kill_on_bad_exit` seconds after a worker's first failure, if the scenario says so."""
        wait = self.launcher.workspace.scenario.kill_on_bad_exit
        failed = [life.ended for life in self.workers.lives if life.code]
        if wait and failed and self.alive and time.monotonic() - min(failed) > wait:
            self.observer.note(f"a worker failed {wait} s ago: ending the others")
            self.workers.end()

    def _stall_timeout(self) -> int:
        """Return the seconds of silence until the job counts as stalled.

        A running worker that has not yet written anything may still be importing its libraries: until it
        has, the scenario's own timeout does not shorten the default.
        """
        scenario = self.launcher.workspace.scenario
        starting = any(index not in self.spoke for index in self.alive)
        default = patience(scenario.workers, os.getloadavg()[0])
        return max(scenario.stall_timeout, default) if starting else scenario.stall_timeout or default

    def _is_stalled(self, timeout: int) -> bool:
        """Return True, and notify the observer, if there was no output or no step for too long."""
        now = time.monotonic()
        if now - self.heard > timeout:
            self.observer.note(f"nothing said for {timeout} s: ending the job")
        elif now - self.advanced > timeout * TALK:
            self.observer.note(f"no step for {timeout * TALK} s: ending the job")
        else:
            return False
        return True

    def read_rest(self) -> None:
        """Read what the workers wrote since the last poll."""
        for index in self.workers.processes:
            self._read(index)

    def _read(self, index: int) -> bool:
        log = self.logs[index]
        if not log.read():
            return False
        name = self.launcher.workspace.name(index)
        self.chunks.append(Chunk(index, name, time.time(), log.new))
        return True

    def _show(self) -> None:
        statuses = [self._status(index) for index in range(self.launcher.workspace.scenario.workers)]
        if statuses != self.shown:
            self.shown = statuses
            self.observer.show(statuses)

    def _status(self, index: int) -> WorkerStatus:
        codes = self.workers.exit_codes()
        state = "not started"
        if index in codes:
            state = "runs" if codes[index] is None else f"ended with {codes[index]}"
        step = self.logs[index].step if index in self.logs else 0
        return WorkerStatus(self.launcher.workspace.scenario.task(index), state, step)

    def _start_those_due(self) -> None:
        for index in [index for index, moment in self.due.items() if moment <= time.monotonic()]:
            del self.due[index]
            self.launcher.start(self.workers, index)
            self.evidence.observe()
            self.advanced = time.monotonic()

    def _listen(self) -> None:
        self.evidence.observe()
        self.launcher.fault.observe(self.workers)
        for index in self.workers.processes:
            log = self.logs[index]
            before = log.step
            if self._read(index):
                self._note_output(index)
            if log.step > before:
                self.advanced = self.heard
            if index in self.errors and self.errors[index].read():
                self._note_output(index)
            self.launcher.fault.on_step(self.workers, index, self._step_of(index))

    def _note_output(self, index: int) -> None:
        self.heard = time.monotonic()
        self.spoke.add(index)

    def _step_of(self, index: int) -> int:
        """Return the last step in a worker's log.

        If the fault is due `after` some seconds, return its step once they have passed, and 0 until then.
        """
        scenario = self.launcher.workspace.scenario
        if not scenario.after:
            return self.logs[index].step
        started = next(life.started for life in self.workers.lives if life.index == index)
        return scenario.step if time.monotonic() - started >= scenario.after else 0

    def _note_who_ended(self) -> None:
        running = self.workers.running()
        for index in sorted(set(self.alive) - set(running)):
            self.advanced = time.monotonic()
            self.observer.note(
                f"worker {index} ended with {self.workers.exit_codes()[index]} at step "
                f"{self.logs[index].step}"
            )
        self.alive = running
        if self.launcher.workspace.scenario.mode == "ps" and not self.due and CHIEF not in running:
            # servers serve for ever: they are ended with the chief
            self.workers.end()
            self.alive = []


def patience(workers: int, load: float) -> int:
    """Return after how many seconds without output a job counts as stalled, longer on a busy machine."""
    busy = (workers + load) / (1.5 * (os.cpu_count() or 1))
    return round(PATIENCE * max(1.0, busy))
