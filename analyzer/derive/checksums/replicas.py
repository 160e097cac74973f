"""Compares the checksums of weights and batches that the workers' recorders took, or their logs print."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from analyzer.tables.builders import frame

Row = Mapping[str, Any]
Place = tuple[int, str]
"""(step, name of a variable or iterator)."""
_KINDS = ("weights", "batch", "pipeline", "printed_weights")
_SAME_NORM = 1e-5
"""Relative difference up to which two printed norms are of the same weights, summed in another order."""


def replicas(checksums: pl.DataFrame) -> pl.DataFrame:
    """Return one row per worker and kind of checksum that at least two workers have at the same place."""
    kinds: dict[str, dict[Place, dict[str, Row]]] = defaultdict(lambda: defaultdict(dict))
    for row in checksums.filter(pl.col("kind").is_in(_KINDS)).iter_rows(named=True):
        if row["worker"] is not None:
            kinds[row["kind"]][row["step"], row["name"]].setdefault(row["worker"], row)
    return frame("replicas", (row for kind, places in kinds.items() for row in _compared(kind, places)))


def _compared(kind: str, places: Mapping[Place, Mapping[str, Row]]) -> Iterator[dict[str, Any]]:
    workers = sorted({worker for rows in places.values() for worker in rows})
    shared = {place: rows for place, rows in sorted(places.items()) if len(rows) == len(workers)}
    if len(workers) < 2 or not shared:
        return
    different = [place for place, rows in shared.items() if len(_votes(rows)) > 1]
    first = different[0][0] if different else None
    then = [place for place in different if place[0] == first]
    for worker in workers:
        shown = shared[then[0] if then else next(iter(shared))][worker]
        yield {
            "worker": worker, "kind": kind, "source": shown["source"], "line": shown["line"],
            "compared": len(shared), "equal": len(shared) - len(different),
            "first_step": first, "name": then[0][1] if then else None, "names": len(then),
            "from_start": first is not None and first == next(iter(shared))[0],
            "odd": bool(then) and _is_odd(worker, [shared[place] for place in then]),
        }  # fmt: skip


def _votes(rows: Mapping[str, Row]) -> Counter[str]:
    digests = [row["digest"] for row in rows.values()]
    return Counter(digests[:1] * len(digests) if _are_one_norm(digests) else digests)


def _are_one_norm(digests: Sequence[str]) -> bool:
    """Return True for decimal numbers that are equal but for the order of summation."""
    if not all("." in digest for digest in digests):
        return False
    norms = [float(digest) for digest in digests]
    return max(norms) - min(norms) <= _SAME_NORM * max(norms)


def _is_odd(worker: str, places: Sequence[Mapping[str, Row]]) -> bool:
    """Return True if only this worker differs at all places; False for two workers: either may be wrong."""
    return all(
        len(rows) > 2 and len(votes := _votes(rows)) == 2 and votes[rows[worker]["digest"]] == 1
        for rows in places
    )
