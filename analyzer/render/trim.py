"""Trims a diagnosis to given limits, and counts what it removes."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from analyzer.model.placeholders import shorten, skip_to_word
from analyzer.render.decision import wording

Json = Any
_LEAVES = frozenset({int, float, bool, type(None)})
"""Scalar types, tested first because `isinstance` with `Mapping` is slow."""
_LONG = frozenset(
    {"workers", "timeline", "findings", "facts", "sources", "damage", "trace"}
    | {"culprits", "suspects", "witnesses", "arrived", "awaited", "unknown", "clocks", "collectives"}
)
_KIND_RANK = {
    "error": 1,
    "signal": 1,
    "end": 2,
    "silence": 2,
    "last_seen": 2,
    "accusation": 3,
    "last_step": 4,
}
_PART_RANK = {"culprit": 0, "suspect": 1, "failed": 2, "witness": 3, "bystander": 4}


class Limits(NamedTuple):
    """Upper bounds: rows of tables, entries of other lists, characters of texts, points in all curves."""

    rows: int = 400
    entries: int = 12
    text: int = 500
    excerpt: int = 1600
    points: int = 8000

    def halved(self) -> "Limits":
        """Return limits of about half the size."""
        return Limits(
            self.rows // 2 + 1,
            self.entries // 2 + 1,
            self.text // 2 + 20,
            self.excerpt // 2 + 80,
            self.points // 2,
        )


def trim(diagnosis: Mapping[str, Json], limits: Limits) -> "Trimmed":
    """Return the diagnosis within the limits, preferring culprits, fired findings and errors."""
    curves = sum(len(w["curves"]) + len(w.get("readings", ())) for w in diagnosis["workers"])
    result = Trimmed(limits, max(limits.points // max(curves, 1), 4))
    result.diagnosis = result.value("", diagnosis)
    return result


@dataclass
class Trimmed:
    """A trimmed diagnosis, the number of removed items by key, and the lengths of shortened texts."""

    limits: Limits
    points: int
    """Maximum number of points per curve (plus its last point and non-finite values)."""
    dropped: Counter[str] = field(default_factory=Counter)
    shortened: list[int] = field(default_factory=list)
    diagnosis: Json = None

    def notes(self) -> list[str]:
        """Return a phrase for each kind of removed item, and for shortened texts."""
        nouns = wording()["trimmed"]
        phrases = [
            f"{count:,} {nouns.get(key, key)} are not shown" for key, count in sorted(self.dropped.items())
        ]
        if self.shortened:
            longest = f"the longest had {max(self.shortened):,} characters"
            phrases.append(f"{len(self.shortened):,} long texts are shortened; {longest}")
        return phrases

    def value(self, key: str, value: Json) -> Json:
        """Return a value, stored under `key`, trimmed to the limits."""
        kind = type(value)
        if kind in _LEAVES or (kind is str and len(value) <= self.limits.text):
            return value
        if isinstance(value, str):
            return self._text(value, self.limits.text)
        if isinstance(value, dict):
            return self._mapping(value)
        if isinstance(value, list | tuple):
            return self._thinned(value) if key == "points" else self._rows(key, value)
        return value

    def _mapping(self, value: Mapping[str, Json]) -> Json:
        limits = self.limits
        self._drop("values", len(value) - limits.rows)
        excerpt = "excerpt" in value and "marks" in value
        made = {
            self._text(k, limits.text): v if type(v) in _LEAVES else self.value(k, v)
            for k, v in islice(value.items(), limits.rows)
            if not (excerpt and k == "excerpt")
        }
        if excerpt:
            made["excerpt"], made["marks"] = self._excerpt(value["excerpt"], value["marks"])
        if "points" in made:
            made["kept"] = len(made["points"])
        return made

    def _rows(self, key: str, value: Sequence[Json]) -> list[Json]:
        """Return the most important rows of a list, in order; of `context`, the last ones, by the excerpt."""
        limit = self.limits.rows if key in _LONG else self.limits.entries
        nearest = -1 if key == "context" else 1
        if len(value) <= limit:
            return [self.value("", each) for each in value]
        kept = sorted(sorted(range(len(value)), key=lambda i: (_rank(value[i]), i * nearest))[:limit])
        self._drop(key, len(value) - len(kept))
        return [self.value("", value[i]) for i in kept]

    def _thinned(self, points: Sequence[Json]) -> list[Json]:
        """Return evenly spaced points of a curve, its last one, and its first non-finite ones."""
        if len(points) <= self.points:
            return list(points)
        stride = len(points) / self.points
        wanted = {math.floor(i * stride) for i in range(self.points)} | {len(points) - 1}
        odd = [i for i, p in enumerate(points) if isinstance(p[1], str)][: self.points]
        kept = sorted(wanted | set(odd))
        self._drop("points of curves", len(points) - len(kept))
        return [points[i] for i in kept]

    def _excerpt(self, text: str, marks: Sequence[Sequence[int]]) -> tuple[str, list[list[int]]]:
        """Return the part of an excerpt around its first mark, and the marks as offsets in it."""
        limit = self.limits.excerpt
        first = min((a for a, _ in marks if 0 <= a < len(text)), default=0)
        far = len(text) > limit and first >= limit // 2
        start = skip_to_word(text, first - limit // 4, first) if far else 0
        head = "…" if start else ""
        shift = len(head) - start
        shown = head + self._text(text[start:], limit, len(text))
        moved = [[max(a + shift, 0), min(b + shift, len(shown))] for a, b in marks[: self.limits.entries]]
        return shown, [[a, b] for a, b in moved if a < b]

    def _text(self, text: str, limit: int, length: int | None = None) -> str:
        if len(text) <= limit:  # as nearly all are
            return text
        self.shortened.append(length or len(text))
        return shorten(text, limit)

    def _drop(self, key: str, count: int) -> None:
        if count > 0:
            self.dropped[key] += count


def _rank(row: Json) -> int:
    """Return a sort key that puts culprits, fired findings and errors before other rows."""
    if not isinstance(row, Mapping):
        return 0
    if "part" in row:
        return _PART_RANK.get(row["part"], 9)
    if "outcome" in row:
        return 0 if row["outcome"] == "fired" else 1
    return _KIND_RANK.get(row.get("kind", ""), 5) if "n" in row else 0
