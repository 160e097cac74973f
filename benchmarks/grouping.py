"""Purity, homogeneity and completeness of the groups of the sample runs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from benchmarks.fleet_recordings import Recording


class Agreement(NamedTuple):
    """How well groups agree with the truth, each from 0 to 1."""

    purity: float
    homogeneity: float
    completeness: float


def agreement(pairs: Sequence[tuple[Hashable, Hashable]]) -> Agreement:
    """Return how well groups agree with the truth, from (truth, group) of each run."""
    truth, groups = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    joint = Counter(pairs)
    largest: dict[Hashable, int] = {}
    for (_, group), count in joint.items():
        largest[group] = max(largest.get(group, 0), count)
    both = _entropy(joint)
    return Agreement(
        sum(largest.values()) / len(pairs),
        1 - (both - _entropy(groups)) / (_entropy(truth) or 1.0),
        1 - (both - _entropy(truth)) / (_entropy(groups) or 1.0),
    )


def _entropy(counts: Mapping[Any, int]) -> float:
    total = sum(counts.values())
    return -sum(count / total * math.log(count / total) for count in counts.values())


def table(every: Sequence[Recording]) -> str:
    """Return the table of the documents."""
    lines = ["| | runs | groups | purity | homogeneity | completeness |", "|---|---|---|---|---|---|"]
    for name, lenient in (("strict", False), ("lenient", True)):
        pairs = [((each.truth if lenient else each.cause, each.role), each.group) for each in every]
        found = agreement(pairs)
        figures = " | ".join(f"{value:.3f}" for value in found)
        lines.append(f"| {name} | {len(pairs)} | {len({group for _, group in pairs})} | {figures} |")
    return "\n".join(lines) + "\n"
