"""Every text of a document: read in order, or written anew with stretches of it replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple


class Change(NamedTuple):
    """A stretch of a text, and what stands there instead."""

    start: int
    end: int
    instead: str


Finder = Callable[[str], Sequence[Change]]
"""The changes to a text, in order, none overlapping another."""

_OURS = frozenset(
    {"schema", "verdict", "confidence", "rule", "kind", "part", "how", "retry", "owner", "role"}
)
_OURS |= {"outcome", "scope", "read", "key", "fingerprint", "rules_digest", "mwms_analyze", "id", "points"}
_OURS |= {"worker", "claimed", "culprits", "suspects", "witnesses", "explained_by", "marks", "cause"}
"""Keys whose values the contract or the rules choose; no file of a run does."""


def strings(value: object) -> Iterator[str]:
    """The texts of a document that come from a run's files; lines that follow one another as one text."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        if _is_evidence(value):
            yield _together(value)
        for key, each in value.items():
            if not (key in _OURS or (_is_evidence(value) and key in {"context", "excerpt"})):
                yield from strings(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from strings(each)


def rewritten(value: Any, finder: Finder) -> Any:  # noqa: ANN401 - any part of a document
    """The document with the changes made that `finder` finds in its texts; keys stay."""
    if isinstance(value, str):
        return changed(value, finder(value))
    if isinstance(value, Mapping):
        made = {key: each if key in _OURS else rewritten(each, finder) for key, each in value.items()}
        return {**made, **_evidence(value, finder)} if _is_evidence(value) else made
    if isinstance(value, list | tuple):
        return [rewritten(each, finder) for each in value]
    return value


def changed(text: str, changes: Sequence[Change]) -> str:
    """The text with its changes made."""
    if not changes:
        return text
    ends = [0, *(change.end for change in changes)]
    kept = (text[end : change.start] + change.instead for end, change in zip(ends, changes, strict=False))
    return "".join(kept) + text[ends[-1] :]


def moved(mark: Sequence[int], changes: Sequence[Change]) -> list[int] | None:
    """Where the words of a mark stand after the changes; none where they are gone."""
    start, end = mark
    for change in changes:
        if change.start <= start and end <= change.end:
            return None
        start = change.end if change.start <= start < change.end else start
        end = change.start if change.start < end <= change.end else end
    return [start + _growth(changes, start), end + _growth(changes, end)]


def _growth(changes: Sequence[Change], at: int) -> int:
    """By how much the text before a place becomes longer."""
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


def _together(evidence: Mapping[str, Any]) -> str:
    """Context and excerpt as they follow one another in the file: a key may span several of the lines."""
    return "\n".join([*(text for _, text in evidence["context"]), evidence["excerpt"]])


def _evidence(evidence: Mapping[str, Any], finder: Finder) -> dict[str, Any]:
    """Context, excerpt and marks anew."""
    numbers = [number for number, _ in evidence["context"]]
    lines = [*(text for _, text in evidence["context"]), evidence["excerpt"]]
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    found = finder(_together(evidence))
    parts = [_within(found, start, after - 1) for start, after in pairwise(starts)]
    *context, excerpt = (changed(line, part) for line, part in zip(lines, parts, strict=True))
    marks = [moved(mark, parts[-1]) for mark in evidence["marks"]]
    numbered = [[number, text] for number, text in zip(numbers, context, strict=True)]
    return {"context": numbered, "excerpt": excerpt, "marks": [mark for mark in marks if mark is not None]}


def _within(changes: Sequence[Change], start: int, end: int) -> list[Change]:
    """The changes to one of several lines, counted from where it starts."""
    return [
        Change(max(each.start, start) - start, min(each.end, end) - start, each.instead)
        for each in changes
        if each.start < end and start < each.end
    ]
