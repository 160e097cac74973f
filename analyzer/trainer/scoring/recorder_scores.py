"""Compares answers on scenarios that ran twice: handed over as usual, and recorded by mwms-recorder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.trainer.scoring.recordings_table import origin_of
from analyzer.trainer.scoring.scoreboard import known_misses_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from analyzer.trainer.scoring.holdout_results import FirstTry
    from analyzer.trainer.scoring.scoreboard import Score

RECORDED = "recorded"
"""Name of the directory, below that of the sample runs, with the runs under mwms-recorder."""
HEAD = "| scenario | TensorFlow | truth | without the recorder | with it, first try | with it, today |"


def recorder_table(
    home: Path, usual: Sequence[Score], scores: Sequence[Score], tries: Sequence[FirstTry]
) -> str:
    """Return a table of the answers on each scenario, and why some are wrong; `home` has the sample runs."""
    scenarios = {score.name: origin_of(home / score.name)["scenario"] for score in usual}
    without = {scenarios[score.name]: _answer(score) for score in reversed(usual)}
    first = {one.recording: _answer(one.score) for one in tries}
    rows = [_row(score, origin_of(home / RECORDED / score.name), without, first) for score in scores]
    right = [sum(row[column] == "right" for row in rows) for column in (3, 4, 5)]
    both = sum(row[3] != "" for row in rows)
    counts = (
        "together",
        "",
        "",
        f"{right[0]} of {both}",
        *(f"{count} of {len(rows)}" for count in right[1:]),
    )
    lines = [f"| {' | '.join(row)} |" for row in (*rows, counts)]
    reasons = [f"- `{name}`: {reason}." for name, reason in known_misses_of(home / RECORDED).items()]
    return "\n".join([HEAD, "|---" * 6 + "|", *lines, "", *reasons]) + "\n"


def _row(
    score: Score, origin: Mapping[str, str], without: Mapping[str, str], first: Mapping[str, str]
) -> tuple[str, ...]:
    usual = without.get(origin["scenario"], "")
    return (score.name, score.version, score.truth, usual, first.get(score.name, ""), _answer(score))


def _answer(score: Score) -> str:
    return "right" if score.is_right else f"{score.said} (cause {score.cause}, culprit {score.culprit})"
