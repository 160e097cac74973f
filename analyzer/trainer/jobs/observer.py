"""Whoever looks on while a job runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class WorkerStatus(NamedTuple):
    """Where one worker stands: `state` in a few words, and the last step that its log shows."""

    worker: str
    state: str
    step: int


class JobObserver(Protocol):
    """Is told what happens."""

    def note(self, line: str) -> None:
        """Hear of an event."""

    def show(self, statuses: Sequence[WorkerStatus]) -> None:
        """See how all workers stand; called whenever one of them moved."""
