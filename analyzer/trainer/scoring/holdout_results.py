"""Stores the analyzer's first answer on each recording, which later rule changes cannot improve."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, NamedTuple

from analyzer.trainer.scoring.scoreboard import Score

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

NAME = "first_tries.csv"
"""Name of the results file in the directory of the recordings."""


class FirstTry(NamedTuple):
    """First answer on one recording, with the truth and the rules' digest; all fields are strings."""

    recording: str
    tensorflow: str
    rules: str
    """Digest of the rules that gave the answer."""
    truth: str
    said: str
    confidence: str
    cause: str
    culprit: str
    why: str = ""
    """Reason for a wrong answer, added later by hand."""

    @property
    def score(self) -> Score:
        """Return the answer as a row of the scoreboard."""
        return Score(
            self.recording, self.tensorflow, self.truth, self.said,
            float(self.confidence), self.cause, self.culprit,
        )  # fmt: skip


def load(path: Path) -> list[FirstTry]:
    """Return all first answers of a results file, oldest first."""
    with path.open(encoding="utf-8", newline="") as file:
        return [FirstTry(**row) for row in csv.DictReader(file)]


def keep(path: Path, scores: Iterable[Score], rules: str) -> list[FirstTry]:
    """Append the answers on recordings that the file does not have yet, and return the appended ones."""
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
