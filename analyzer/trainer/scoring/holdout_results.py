"""The first answer of the analyzer on each recording, stored so that later rule changes cannot improve it."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, NamedTuple

from analyzer.trainer.scoring.scoreboard import Score

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

NAME = "first_tries.csv"
"""Name of the file beside the recordings."""


class FirstTry(NamedTuple):
    """The first answer on one recording, the truth, and the rules; all fields are texts, as in the file."""

    recording: str
    tensorflow: str
    rules: str
    """Digest of rules that were never evaluated on this recording before."""
    truth: str
    said: str
    confidence: str
    cause: str
    culprit: str
    why: str = ""
    """Reason for a wrong answer, added later by hand."""

    @property
    def score(self) -> Score:
        """The score for the scoreboard."""
        return Score(
            self.recording, self.tensorflow, self.truth, self.said,
            float(self.confidence), self.cause, self.culprit,
        )  # fmt: skip


def load(path: Path) -> list[FirstTry]:
    """Read all first tries, in the order in which they were made."""
    with path.open(encoding="utf-8", newline="") as file:
        return [FirstTry(**row) for row in csv.DictReader(file)]


def keep(path: Path, scores: Iterable[Score], rules: str) -> list[FirstTry]:
    """Append recordings that the file does not have yet; return the appended ones."""
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
