"""What comes first: the findings that fired, in the order in which a reader wants them."""

from collections.abc import Mapping, Sequence
from typing import Any

Json = Mapping[str, Any]
_NO_READER = "no reader for this kind of file"
_ROLES = ("cause", "symptom", "context", "benign")


def fired(diagnosis: Json) -> list[tuple[int, Json]]:
    """Return the findings that fired with their places in the document, the verdict's own rule first."""
    found = [(i, f) for i, f in enumerate(diagnosis["findings"]) if f["outcome"] == "fired"]
    return sorted(found, key=lambda f: (f[1]["rule"] != diagnosis["rule"], _ROLES.index(f[1]["role"]), f[0]))


def places(diagnosis: Json, limit: int) -> list[Json]:
    """Return evidence for a short report: the verdict's own, then a place of each other cause or symptom."""
    chosen: list[Json] = []
    for _, finding in fired(diagnosis):
        if finding["role"] in {"cause", "symptom"}:
            own = finding["rule"] == diagnosis["rule"]
            chosen += finding["evidence"] if own else finding["evidence"][:1]
    return distinct(chosen)[:limit]


def distinct(evidence: Sequence[Json]) -> list[Json]:
    """Return the places without those that say what an earlier one said: the same line, or the same words."""
    told: set[tuple[Any, ...]] = set()
    kept = []
    for place in evidence:
        said = _said(place)
        if told.isdisjoint(said):
            kept.append(place)
        told |= said
    return kept


def _said(place: Json) -> set[tuple[Any, ...]]:
    """Return what a place shares with another one that tells a reader the same."""
    source, line, kind = place["source"], place["line"], place["kind"]
    if kind == "absence" or line is None:
        return {(kind, source, line, place["worker"], place["says"])}
    marked = tuple(place["excerpt"][start:end] for start, end in place["marks"])
    return {(source, line)} | ({(source, place["worker"], place["says"], marked)} if any(marked) else set())


def where(place: Json) -> str:
    """Name a place: `worker-1.log:123`, or the source alone, or nothing."""
    source, line = place["source"], place["line"]
    return "" if source is None else source if line is None else f"{source}:{line}"


def unread(diagnosis: Json) -> list[tuple[str, str]]:
    """Return what could not be read, a name and why: first what is lost, then what no reader is for."""
    told = {(source["name"], source["reason"]) for source in diagnosis["sources"]}
    damage = [
        (d["source"] + (f":{d['line']}" if d["line"] else ""), d["what"])
        for d in diagnosis["damage"]
        if d["line"] or (d["source"], d["what"]) not in told
    ]
    return [*lost(diagnosis), *damage, *foreign(diagnosis)]


def lost(diagnosis: Json) -> list[tuple[str, str]]:
    """Return the files that were not read, or not whole, though there is a reader; those tried come first."""
    found = [s for s in diagnosis["sources"] if s["read"] != "complete" and s["reason"] != _NO_READER]
    return [(s["name"], _why(s)) for s in sorted(found, key=lambda s: s["read"] == "skipped")]


def foreign(diagnosis: Json) -> list[tuple[str, str]]:
    """Return the files that no reader is for, as one."""
    found = [s for s in diagnosis["sources"] if s["read"] != "complete" and s["reason"] == _NO_READER]
    if not found:
        return []
    return [(found[0]["name"] if len(found) == 1 else f"{len(found):,} files", _why(found[0]))]


def _why(source: Json) -> str:
    return f"{source['read']}: {source['reason']}"
