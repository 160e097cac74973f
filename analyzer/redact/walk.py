"""Walks the texts of a document, to read them in order or to replace parts of them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple


class Replacement(NamedTuple):
    """A part of a text, and what replaces it."""

    start: int
    end: int
    instead: str


FindReplacements = Callable[[str], Sequence[Replacement]]
"""Returns the replacements of a text, in order and without overlaps."""

_TRUSTED_KEYS = frozenset({
    "schema", "verdict", "confidence", "rule", "kind", "part", "how", "retry", "owner", "scheduler", "role",
    "outcome", "scope", "read", "key", "fingerprint", "rules_digest", "mwms_analyze", "id", "points",
    "guessed", "worker", "culprits", "suspects", "witnesses", "explained_by", "marks", "cause",
})  # fmt: skip
"""Keys whose values come from the schema or the rules, never from a file of the run."""
_SCALARS = frozenset({int, float, bool, type(None)})
_LINES = frozenset({"context", "excerpt"})
"""Keys of evidence that hold consecutive lines of a file."""
_OUR_WORDS = frozenset({"reason"})
"""Keys of a finding that hold names of signals, which could be mistaken for names: `cancelled by peer`."""


def texts_of_run(value: object) -> Iterator[str]:
    """Yield the texts of a document that come from the run's files; consecutive lines as one text."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        joined = _is_evidence(value)
        own = _OUR_WORDS if "outcome" in value else _LINES if joined else frozenset()
        if joined:
            yield _joined_lines(value)
        if isinstance(value.get("text"), str) and isinstance(value.get("excerpt"), str):
            yield f"{value['text']}\n{value['excerpt']}"
        for key, each in value.items():
            if type(each) not in _SCALARS and key not in _TRUSTED_KEYS and key not in own:
                yield from texts_of_run(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from texts_of_run(each)


def rewrite(value: Any, finder: FindReplacements) -> Any:  # noqa: ANN401 - any part of a document
    """Return the document with the replacements of `finder` applied to its texts; keys are unchanged."""
    if isinstance(value, str):
        return replace_in(value, finder(value))
    if isinstance(value, dict):
        made = {key: each if key in _TRUSTED_KEYS else rewrite(each, finder) for key, each in value.items()}
        return {**made, **_evidence(value, finder)} if _is_evidence(value) else made
    if isinstance(value, list | tuple):
        return [rewrite(each, finder) for each in value]
    return value


def replace_in(text: str, changes: Sequence[Replacement]) -> str:
    """Return the text with the replacements applied."""
    if not changes:
        return text
    ends = [0, *(change.end for change in changes)]
    kept = (text[end : change.start] + change.instead for end, change in zip(ends, changes, strict=False))
    return "".join(kept) + text[ends[-1] :]


def any_of(texts: Iterable[str]) -> str:
    """Return a regex that matches any of the texts literally, longer texts first."""
    return "|".join(map(re.escape, sorted(texts, key=lambda text: (-len(text), text))))


def moved_mark(mark: Sequence[int], changes: Sequence[Replacement]) -> list[int] | None:
    """Return the mark's position after the replacements; None if one covers it."""
    start, end = mark
    for change in changes:
        if change.start <= start and end <= change.end:
            return None
        start = change.end if change.start <= start < change.end else start
        end = change.start if change.start < end <= change.end else end
    return [start + _growth(changes, start), end + _growth(changes, end)]


def _growth(changes: Sequence[Replacement], at: int) -> int:
    """Return the change in length, in characters, of the text before `at`."""
    return sum(len(each.instead) - (each.end - each.start) for each in changes if each.end <= at)


def _is_evidence(value: Mapping[Any, Any]) -> bool:
    context, marks = value.get("context"), value.get("marks")
    return (
        isinstance(value.get("excerpt"), str)
        and isinstance(context, list)
        and all(isinstance(line, list) and list(map(type, line)) == [int, str] for line in context)
        and isinstance(marks, list)
        and all(isinstance(mark, list) and list(map(type, mark)) == [int, int] for mark in marks)
    )


def _joined_lines(evidence: Mapping[str, Any]) -> str:
    """Return context and excerpt as one text, because a key may span several lines."""
    return "\n".join([*(text for _, text in evidence["context"]), evidence["excerpt"]])


def _evidence(evidence: Mapping[str, Any], finder: FindReplacements) -> dict[str, Any]:
    """Return context, excerpt and marks after the replacements."""
    numbers = [number for number, _ in evidence["context"]]
    lines = [*(text for _, text in evidence["context"]), evidence["excerpt"]]
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    found = finder(_joined_lines(evidence))
    parts = [_within(found, start, after - 1) for start, after in pairwise(starts)]
    *context, excerpt = (replace_in(line, part) for line, part in zip(lines, parts, strict=True))
    marks = [moved_mark(mark, parts[-1]) for mark in evidence["marks"]]
    numbered = [[number, text] for number, text in zip(numbers, context, strict=True)]
    return {"context": numbered, "excerpt": excerpt, "marks": [mark for mark in marks if mark is not None]}


def _within(changes: Sequence[Replacement], start: int, end: int) -> list[Replacement]:
    """Return the replacements inside one line, with positions relative to its start."""
    return [
        Replacement(max(each.start, start) - start, min(each.end, end) - start, each.instead)
        for each in changes
        if each.start < end and start < each.end
    ]
