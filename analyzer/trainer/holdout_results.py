"""What the analyzer said of recordings the first time it met them: no later change mends that."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, NamedTuple

from analyzer.trainer.scoreboard import Mark

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

NAME = "first_tries.csv"
"""Beside the recordings of the repository."""


class Try(NamedTuple):
    """What was said of one recording, beside the truth, and by which rules; each field as it is written."""

    recording: str
    tensorflow: str
    rules: str
    """Digest of the rules, none of which had been tried on this recording."""
    truth: str
    said: str
    confidence: str
    cause: str
    culprit: str
    why: str = ""
    """For what is not right: the reason, as it was found later."""

    @property
    def mark(self) -> Mark:
        """The same as the scoreboard counts it."""
        return Mark(
            self.recording, self.tensorflow, self.truth, self.said,
            float(self.confidence), self.cause, self.culprit,
        )  # fmt: skip


def load(path: Path) -> list[Try]:
    """Read all first tries, in the order in which they were made."""
    with path.open(encoding="utf-8", newline="") as file:
        return [Try(**row) for row in csv.DictReader(file)]


def keep(path: Path, marks: Iterable[Mark], rules: str) -> list[Try]:
    """Add those recordings that the file does not name yet; return what was added."""
    known: Sequence[Try] = load(path) if path.exists() else []
    names = {one.recording for one in known}
    new = [
        Try(m.name, m.version, rules, m.truth, m.said, str(m.confidence), m.cause, m.culprit)
        for m in marks
        if m.name not in names
    ]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([Try._fields, *known, *new])
    return new
