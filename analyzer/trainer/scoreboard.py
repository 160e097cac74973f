"""How the analyzer does on what was recorded, and how far its confidence is true."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from analyzer.pipeline import analyze, load_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

BANDS = ((0.0, 0.6), (0.6, 0.85), (0.85, 1.01))
RESULTS = ("right", "wrong", "abstained")
VERSION = re.compile(r"^\| TensorFlow \| (\d+\.\d+)", re.MULTILINE)


@dataclass(frozen=True)
class Mark:
    """What the analyzer said about one recording, beside the truth."""

    name: str
    version: str
    truth: str
    said: str
    confidence: float
    result: str


def mark_all(home: Path) -> list[Mark]:
    """Analyze every recording below a folder."""
    rules = load_rules()

    def mark(folder: Path) -> Mark:
        truth = json.loads((folder / "expected.json").read_text())
        said = analyze([folder / "run"], rules).document
        version = VERSION.search((folder / "origin.md").read_text())
        return Mark(
            name=folder.name,
            version=version[1] if version else "?",
            truth=truth["cause"],
            said=said["cause"],
            confidence=float(said["confidence"] or 0.0),
            result=judge(truth, said),
        )

    return [mark(path.parent) for path in sorted(home.glob("*/expected.json"))]


def judge(truth: Mapping[str, Any], said: Mapping[str, Any]) -> str:
    """Cause and culprit must be right together; a cause that is as good counts as right."""
    if said["cause"] == "unknown" and truth["cause"] != "unknown":
        return "abstained"
    cause = said["cause"] in {truth["cause"], *truth.get("accept", ())}
    return "right" if cause and sorted(said["culprits"]) == sorted(truth["culprits"]) else "wrong"


def scoreboard(marks: list[Mark]) -> str:
    """Tables per cause, per version and per band of confidence, and every case that is not right."""
    parts = [
        _counted("cause", marks, lambda mark: mark.truth),
        _counted("TensorFlow", marks, lambda mark: mark.version),
        _reliability(marks),
        _not_right(marks),
    ]
    return "\n\n".join(parts) + "\n"


def _counted(title: str, marks: Iterable[Mark], key: Callable[[Mark], str]) -> str:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for mark in marks:
        counts[key(mark)][mark.result] += 1
        counts["together"][mark.result] += 1
    order = [*sorted(counts.keys() - {"together"}), *(["together"] if counts else [])]
    rows = [(name, *(str(counts[name][result]) for result in RESULTS)) for name in order]
    return _table((title, *RESULTS), rows)


def _reliability(marks: list[Mark]) -> str:
    rows = []
    for low, high in BANDS:
        inside = [mark for mark in marks if mark.result != "abstained" and low <= mark.confidence < high]
        if inside:
            told = sum(mark.confidence for mark in inside) / len(inside)
            true = sum(mark.result == "right" for mark in inside) / len(inside)
            rows.append(
                (f"{low:.2f} to {min(high, 1.0):.2f}", str(len(inside)), f"{told:.2f}", f"{true:.2f}")
            )
    return _table(("confidence", "runs", "mean", "share right"), rows)


def _not_right(marks: list[Mark]) -> str:
    rows = [
        (mark.name, mark.truth, mark.said, f"{mark.confidence:.2f}", mark.result)
        for mark in marks
        if mark.result != "right"
    ]
    return _table(("not right", "truth", "said", "confidence", "result"), rows)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
