"""Workers and their facts as tables: differing values are highlighted, equal ones folded."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from analyzer.render.formatting import as_text, worker_key
from analyzer.render.phrasing import differs_by_nature

Json = Mapping[str, Any]
MAX_ROWS = 16
"""Workers up to which a table folds none."""


class Cell(NamedTuple):
    """A worker's value of a fact; `odd` if most workers have another value."""

    value: str | None
    odd: bool


class Row(NamedTuple):
    """The differing facts of one worker."""

    worker: str
    cells: tuple[Cell, ...]


class Facts(NamedTuple):
    """Facts that differ between workers, are equal (label, value, number of workers), or are per worker."""

    columns: tuple[Json, ...]
    rows: tuple[Row, ...]
    equal: tuple[tuple[str, str, int], ...]
    own: tuple[Json, ...]
    """Facts expected to differ per worker, such as its host."""

    @property
    def outliers(self) -> tuple[Row, ...]:
        """Return the rows with an odd value; with few workers, all rows."""
        few = len(self.rows) <= MAX_ROWS
        return self.rows if few else tuple(r for r in self.rows if any(c.odd for c in r.cells))

    @property
    def typical(self) -> tuple[Row, ...]:
        """Return all other rows."""
        return tuple(r for r in self.rows if r not in self.outliers)


def facts(diagnosis: Json) -> Facts:
    """Split the facts of a diagnosis into differing, equal and per-worker ones."""
    found = [
        {**f, "values": {w: as_text(value) for w, value in f["values"].items()}} for f in diagnosis["facts"]
    ]
    own = [f for f in found if not f["equal"] and differs_by_nature(f)]
    differing = [f for f in found if not f["equal"] and f not in own]
    workers = sorted({w for f in differing for w in f["values"]}, key=worker_key)
    usual = [_usual(list(f["values"].values())) for f in differing]
    rows = tuple(
        Row(w, tuple(_cell(f["values"].get(w), u) for f, u in zip(differing, usual, strict=True)))
        for w in workers
    )
    equal = tuple(
        (f["label"], next(iter(f["values"].values()), ""), len(f["values"])) for f in found if f["equal"]
    )
    return Facts(tuple(differing), rows, equal, tuple(own))


class Endings(NamedTuple):
    """The workers of a large cluster: those that ended unlike most (`outliers`), and the others."""

    outliers: tuple[Json, ...]
    typical: tuple[Json, ...]


def endings(diagnosis: Json) -> Endings:
    """Split the workers: outliers are blamed, unseen, or ended unlike most; all, if there are few."""
    workers = tuple(sorted(diagnosis["workers"], key=lambda w: worker_key(w["id"])))
    if len(workers) <= MAX_ROWS:
        return Endings(workers, ())
    usual = _usual([w["ended"]["says"] for w in workers])
    typical = tuple(
        w
        for w in workers
        if w["seen"] and w["part"] not in {"culprit", "suspect"} and w["ended"]["says"] == usual
    )
    return Endings(tuple(w for w in workers if w not in typical), typical)


def _usual(values: Sequence[str]) -> str | None:
    """Return the most frequent value, or None if none is more frequent than the others."""
    (value, count), *rest = Counter(values).most_common(2)
    return value if count > 1 and (not rest or rest[0][1] < count) else None


def _cell(value: str | None, usual: str | None) -> Cell:
    return Cell(value, odd=value is not None and usual is not None and value != usual)
