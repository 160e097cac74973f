"""Defines the interface for observers of a running job, such as a live table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class WorkerStatus(NamedTuple):
    """State of one worker as a short text, and the last step in its log."""

    worker: str
    state: str
    step: int


class JobObserver(Protocol):
    """Receives events and status updates of a job."""

    def note(self, line: str) -> None:
        """Receive one event of the job as a line of text."""

    def show(self, statuses: Sequence[WorkerStatus]) -> None:
        """Receive the state of all workers; called whenever the state of one changes."""
