"""Orders findings, evidence and unread files for display."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from analyzer.model.placeholders import short_ids
from analyzer.model.tracebacks.lines import names_error
from analyzer.tables.grouping import grouped

Json = Mapping[str, Any]
_NO_READER = "no reader for this kind of file"
_MAX_NAMES = 3
_ROLES = ("cause", "symptom", "context", "benign")


def fired_findings(diagnosis: Json) -> list[tuple[int, Json]]:
    """Return (index in the document, finding) of those that fired: the verdict's, then the others by role."""
    found = [(i, f) for i, f in enumerate(diagnosis["findings"]) if f["outcome"] == "fired"]
    return sorted(found, key=lambda f: (f[1]["rule"] != diagnosis["rule"], _ROLES.index(f[1]["role"]), f[0]))


def leading_evidence(diagnosis: Json, limit: int) -> list[Json]:
    """Return at most `limit` pieces of evidence: all of the verdict's finding, one of any other finding."""
    chosen: list[Json] = []
    for _, finding in fired_findings(diagnosis):
        if finding["role"] in {"cause", "symptom"}:
            own = finding["rule"] == diagnosis["rule"]
            chosen += finding["evidence"] if own else finding["evidence"][:1]
    return unique_evidence(chosen)[:limit]


def unique_evidence(evidence: Sequence[Json]) -> list[Json]:
    """Return the evidence without repetitions.

    Those are the same line, the same statement and words in one file, or an exception that a chained
    traceback names again.
    """
    seen: set[tuple[Any, ...]] = set()
    kept = []
    for place in evidence:
        keys = identity_keys(place)
        if seen.isdisjoint(keys):
            kept.append(place)
        seen |= keys
    return kept


def identity_keys(place: Json) -> set[tuple[Any, ...]]:
    """Return keys of a piece of evidence; pieces with a common key are duplicates."""
    source, line, kind = place["source"], place["line"], place["kind"]
    if kind == "absence" or line is None:
        return {(kind, source, line, place["worker"], place["says"])}
    marked = tuple(place["excerpt"][start:end] for start, end in place["marks"])
    said = {(source, place["says"], marked)} if place["says"] else set()
    raised = {(source, "", place["excerpt"])} if names_error(place["excerpt"]) else set()
    return {(source, line)} | said | raised


def location(place: Json) -> str:
    """Return the location of evidence: `worker-1.log:123`, only the source, or empty without source.

    Of an export whose entries share lines, it is `export.json entry 123`.
    """
    source, line = short_ids(place["source"] or ""), place["line"]
    return source if line is None or not source else f"{source}{before_number(place)}{line}"


def file_line(place: Json) -> int | None:
    """Return the line of the file at which evidence stands; None if there is none, or it is not known."""
    number: int | None = place["line"]
    return None if place.get("counts") == "entries" else number


def before_number(place: Json) -> str:
    """Return what stands between the source and the number of a place: a colon if it counts lines."""
    return " entry " if place.get("counts") == "entries" else ":"


def unread_sources(diagnosis: Json) -> list[tuple[str, str]]:
    """Return (name, reason) of unread files: incomplete ones, damage, then unsupported kinds."""
    stated = {(source["name"], source["reason"]) for source in diagnosis["sources"]}
    damage = _damaged(d for d in diagnosis["damage"] if d["line"] or (d["source"], d["what"]) not in stated)
    located = {(d["source"], d["what"]) for d in diagnosis["damage"] if d["line"]}
    whole = [(s["name"], _why(s)) for s in _incomplete(diagnosis) if (s["name"], s["reason"]) not in located]
    return [*whole, *damage, *unsupported_sources(diagnosis)]


def _damaged(rows: Iterable[Json]) -> list[tuple[str, str]]:
    """Return (location, reason) of the first damage of each kind per file; the reason counts the others."""
    kinds = grouped(((row["source"], re.sub(r"\d+", "", row["what"])), row) for row in rows)
    return [
        (location(first), first["what"] + (f"; {len(like):,} more like it" if like else ""))
        for first, *like in kinds.values()
    ]


def incomplete_sources(diagnosis: Json) -> list[tuple[str, str]]:
    """Return (name, reason) of supported files that were not read whole, unless damage states the reason."""
    stated = {(damage["source"], damage["what"]) for damage in diagnosis.get("damage", ())}
    return [(s["name"], _why(s)) for s in _incomplete(diagnosis) if (s["name"], s["reason"]) not in stated]


def _incomplete(diagnosis: Json) -> list[Json]:
    found = [s for s in diagnosis["sources"] if s["read"] != "complete" and s["reason"] != _NO_READER]
    return sorted(found, key=lambda source: source["read"] == "skipped")


def unsupported_sources(diagnosis: Json) -> list[tuple[str, str]]:
    """Return one (names, reason) for all files of unsupported kinds; empty if there are none."""
    found = [s for s in diagnosis["sources"] if s["read"] != "complete" and s["reason"] == _NO_READER]
    if not found:
        return []
    names = ", ".join(source["name"] for source in found[:_MAX_NAMES])
    more = len(found) - _MAX_NAMES
    advice = f"{_why(found[0])}; rename a log to NAME.log"
    return [(f"{names} and {more:,} more" if more > 0 else names, advice)]


def _why(source: Json) -> str:
    return f"{source['read']}: {source['reason']}"
