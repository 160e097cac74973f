"""What the analyzer said of recordings the first time it met them: no later change mends that."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, NamedTuple

from analyzer.trainer.scoring.scoreboard import Score

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

NAME = "first_tries.csv"
"""Beside the recordings of the repository."""


class FirstTry(NamedTuple):
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
    def score(self) -> Score:
        """The same as the scoreboard counts it."""
        return Score(
            self.recording, self.tensorflow, self.truth, self.said,
            float(self.confidence), self.cause, self.culprit,
        )  # fmt: skip


def load(path: Path) -> list[FirstTry]:
    """Read all first tries, in the order in which they were made."""
    with path.open(encoding="utf-8", newline="") as file:
        return [FirstTry(**row) for row in csv.DictReader(file)]


def keep(path: Path, scores: Iterable[Score], rules: str) -> list[FirstTry]:
    """Add those recordings that the file does not name yet; return what was added."""
    known: Sequence[FirstTry] = load(path) if path.exists() else []
    names = {one.recording for one in known}
    new = [
        FirstTry(m.name, m.version, rules, m.truth, m.said, str(m.confidence), m.cause, m.culprit)
        for m in scores
        if m.name not in names
    ]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([FirstTry._fields, *known, *new])
    return new
