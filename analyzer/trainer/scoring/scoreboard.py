"""Tabulates how often the analyzer is right on recordings, and how well its confidence is calibrated."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

from analyzer.discover import discover
from analyzer.pipeline import diagnose_tables, load_rules, load_tables
from analyzer.trainer.scoring.baselines import BASELINES, CONSTANT, answers, commonest
from analyzer.trainer.scoring.held_out import Share, is_held_out
from analyzer.trainer.scoring.intervals import wilson

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

CONFIDENT = 0.9
"""Confidence at or above which nine in ten answers must be right."""
BANDS = ((0.0, 0.6), (0.6, 0.85), (0.85, 1.01))
OURS = "mwms-analyze"
RESULTS = ("right", "wrong", "abstained")
VERSION = re.compile(r"^\| TensorFlow \| (\d+\.\d+)", re.MULTILINE)
KNOWN = "known_misses.yaml"
"""Name of the file in the directory of the recordings with the reasons for wrong answers."""


@dataclass(frozen=True)
class Score:
    """The analyzer's answer on one recording, and the truth."""

    name: str
    version: str
    truth: str
    said: str
    confidence: float
    cause: str
    culprit: str
    culprits: tuple[str, ...] = ()
    """The true culprits, which `expected.json` names."""
    baselines: Mapping[str, str | None] = field(default_factory=dict)
    """The worker that each baseline blames, by the baseline's name; None for nobody."""

    @property
    def is_right(self) -> bool:
        """Return True if cause and culprits are both right."""
        return self.cause == self.culprit == "right"


def score_all(home: Path, name: str = "*") -> list[Score]:
    """Analyze the recordings in a directory whose name matches, and score the answers by `expected.json`."""
    rules = load_rules()

    def score(folder: Path) -> Score:
        truth = json.loads((folder / "expected.json").read_text())
        run = discover([folder / "run"])
        tables = load_tables(run, rules)
        said = diagnose_tables(run.name, tables, rules).document
        version = VERSION.search((folder / "origin.md").read_text())
        return Score(
            name=folder.name,
            version=version[1] if version else "?",
            truth=_label(truth["cause"], truth["culprits"]),
            said=_label(said["cause"] or "inconclusive", said["culprits"]),
            confidence=float(said["confidence"] or 0.0),
            cause=judge_cause(truth, said),
            culprit=judge_culprit(truth, said),
            culprits=tuple(truth["culprits"]),
            baselines=answers(tables),
        )

    return [score(path.parent) for path in sorted(home.glob(f"{name}/expected.json"))]


def judge_cause(truth: Mapping[str, Any], said: Mapping[str, Any]) -> str:
    """Return `right` (true or accepted cause), `abstained` (unknown) or `wrong`."""
    if said["cause"] in {truth["cause"], *truth.get("accept", ())}:
        return "right"
    return "abstained" if said["cause"] in {"unknown", None} else "wrong"


def judge_culprit(truth: Mapping[str, Any], said: Mapping[str, Any]) -> str:
    """Return `right`, `wrong` (an innocent worker is blamed) or `abstained` (a culprit is missing)."""
    if sorted(said["culprits"]) == sorted(truth["culprits"]):
        return "right"
    return "wrong" if set(said["culprits"]) - set(truth["culprits"]) else "abstained"


def scoreboard(scores: Sequence[Score], reasons: Mapping[str, str]) -> str:
    """Return tables by cause, version and confidence, a comparison with baselines, and all wrong answers."""
    parts = [
        _held_out(scores),
        _counted("cause", scores, lambda score: score.truth.split()[0]),
        _counted("TensorFlow", scores, lambda score: score.version),
        _reliability(scores),
        _compared_with_baselines(scores),
        _not_right(scores, reasons),
    ]
    return "\n\n".join(parts) + "\n"


def shares(scores: Sequence[Score]) -> dict[str, tuple[Share, Share]]:
    """Return the shares of right answers by name, each as (held out, not held out).

    The names are `cause`, `culprit`, and one for answers with a confidence of `CONFIDENT` or more; these are
    right if they name the cause and blame no innocent worker.
    """
    held_out = [score for score in scores if is_held_out(score.name)]
    others = [score for score in scores if not is_held_out(score.name)]
    return {name: (share(held_out), share(others)) for name, share in _SHARES.items()}


def _share_of_causes(scores: Sequence[Score]) -> Share:
    return Share(sum(score.cause == "right" for score in scores), len(scores))


def _share_of_culprits(scores: Sequence[Score]) -> Share:
    return Share(sum(score.culprit == "right" for score in scores), len(scores))


def _share_of_confident(scores: Sequence[Score]) -> Share:
    said = [score for score in scores if score.cause != "abstained" and score.confidence >= CONFIDENT]
    return Share(sum(score.cause == "right" and score.culprit != "wrong" for score in said), len(said))


_SHARES: Mapping[str, Callable[[Sequence[Score]], Share]] = {
    "cause": _share_of_causes,
    "culprit": _share_of_culprits,
    f"confidence {CONFIDENT} or more": _share_of_confident,
}


def _held_out(scores: Sequence[Score]) -> str:
    """Return a table: the share of right answers on held-out recordings and on those known to the rules."""
    rows = [(part, *map(_share_text, both)) for part, both in shares(scores).items()]
    return _table(("right", "held out", "used for writing rules"), rows)


def _share_text(share: Share) -> str:
    if not share.of:
        return "no recording"
    low, high = wilson(*share)
    return f"{share.right} of {share.of} ({low:.2f} to {high:.2f})"


def first_scoreboard(scores: Sequence[Score], reasons: Mapping[str, str]) -> str:
    """Return tables by version and confidence, and all wrong answers, for recordings new to the rules."""
    parts = [
        _counted("TensorFlow", scores, lambda score: score.version),
        _reliability(scores),
        _not_right(scores, reasons),
    ]
    return "\n\n".join(parts) + "\n"


def known_misses_of(home: Path) -> dict[str, str]:
    """Return the reasons for wrong answers by recording; empty if there is no such file."""
    path = home / KNOWN
    return yaml.safe_load(path.read_text()) if path.is_file() else {}


def _label(cause: str, culprits: Sequence[str]) -> str:
    return " ".join([cause, *culprits])


def _counted(title: str, scores: Sequence[Score], key: Callable[[Score], str]) -> str:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for score in scores:
        for name in (key(score), "together"):
            counts[name].update([f"cause {score.cause}", f"culprit {score.culprit}"])
    order = [*sorted(counts.keys() - {"together"}, key=_numbers_last), *(["together"] if counts else [])]
    columns = [f"{what} {result}" for what in ("cause", "culprit") for result in RESULTS]
    return _table((title, *columns), [(n, *(str(counts[n][each] or "") for each in columns)) for n in order])


def _numbers_last(name: str) -> tuple[int, ...] | tuple[str]:
    """Return a sort key that orders versions as numbers: 2.4 before 2.15."""
    return tuple(map(int, name.split("."))) if name.replace(".", "").isdigit() else (name,)


def _reliability(scores: Sequence[Score]) -> str:
    rows = []
    for low, high in BANDS:
        inside = [score for score in scores if score.cause != "abstained" and low <= score.confidence < high]
        if inside:
            mean = sum(score.confidence for score in inside) / len(inside)
            right = sum(score.cause == "right" for score in inside)
            fair = sum(score.culprit != "wrong" for score in inside)
            rows.append(
                (
                    f"{low:.2f} to {min(high, 1.0):.2f}", str(len(inside)), f"{mean:.2f}",
                    f"{right / len(inside):.2f}", "{:.2f} to {:.2f}".format(*wilson(right, len(inside))),
                    f"{fair / len(inside):.2f}", "{:.2f} to {:.2f}".format(*wilson(fair, len(inside))),
                )
            )  # fmt: skip
    return _table(
        (
            "confidence", "runs", "mean confidence", "share of causes right", "95 % interval",
            "share without an innocent blamed", "95 % interval",
        ),
        rows,
    )  # fmt: skip


def _compared_with_baselines(scores: Sequence[Score]) -> str:
    """Return a table of right and wrong blame by the analyzer and by each baseline."""
    always = commonest(score.culprits for score in scores)
    ours = [(score, score.culprit) for score in scores]
    methods = {CONSTANT: [(score, _judged(score, always)) for score in scores]}
    methods |= {
        name: [(score, _judged(score, score.baselines.get(name))) for score in scores] for name in BASELINES
    }
    return _table(
        (
            "who is to blame, as told by",
            *RESULTS,
            "nobody guilty, nobody blamed",
            "nobody guilty, somebody blamed",
        ),
        [_comparison_row(name, results) for name, results in {OURS: ours, **methods}.items()],
    )


def _judged(score: Score, blamed: str | None) -> str:
    truth = {"culprits": list(score.culprits)}
    return judge_culprit(truth, {"culprits": [blamed] if blamed else []})


def _comparison_row(name: str, results: Sequence[tuple[Score, str]]) -> tuple[str, ...]:
    guilty = Counter(result for score, result in results if score.culprits)
    innocent = Counter(result for score, result in results if not score.culprits)
    counts = [guilty[result] for result in RESULTS] + [innocent["right"], innocent["wrong"]]
    return (name, *map(str, counts))


def _not_right(scores: Sequence[Score], reasons: Mapping[str, str]) -> str:
    rows = [
        (
            score.name, score.truth, f"{score.said} ({score.confidence:.2f})", score.cause, score.culprit,
            reasons.get(score.name, "not explained yet"),
        )
        for score in scores
        if not score.is_right
    ]  # fmt: skip
    return _table(("not right", "truth", "said", "cause", "culprit", "why"), rows)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
