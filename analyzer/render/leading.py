"""What comes first: the findings that fired, in the order in which a reader wants them."""

from collections.abc import Mapping
from typing import Any

Json = Mapping[str, Any]
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
    told = {
        (p["source"], p["line"], p["kind"], p["says"] if p["kind"] == "absence" else ""): p
        for p in chosen[::-1]
    }
    return [p for p in chosen if any(p is kept for kept in told.values())][:limit]


def where(place: Json) -> str:
    """Name a place: `worker-1.log:123`, or the source alone, or nothing."""
    source, line = place["source"], place["line"]
    return "" if source is None else source if line is None else f"{source}:{line}"


def unread(diagnosis: Json) -> list[tuple[str, str]]:
    """Return what could not be read: a name, and why."""
    parts = [
        (s["name"], f"{s['read']}: {s['reason']}") for s in diagnosis["sources"] if s["read"] != "complete"
    ]
    return parts + [
        (d["source"] + (f":{d['line']}" if d["line"] else ""), d["what"]) for d in diagnosis["damage"]
    ]
