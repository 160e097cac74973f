"""Workers and their facts as tables: what differs is lit, what is equal is folded."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from analyzer.render.phrasing import of_each, worker_key

Json = Mapping[str, Any]
MOST_ROWS = 16
"""Workers that a table shows without folding any."""


class Cell(NamedTuple):
    """A worker's value of a fact; `odd` where most workers say something else."""

    value: str | None
    odd: bool


class Row(NamedTuple):
    """One worker's facts that differ."""

    worker: str
    cells: tuple[Cell, ...]


class Facts(NamedTuple):
    """The table of what differs, and the list of what does not."""

    columns: tuple[Json, ...]
    rows: tuple[Row, ...]
    equal: tuple[tuple[str, str, int], ...]
    own: tuple[Json, ...]
    """Facts of which each worker has a value of its own."""

    @property
    def apart(self) -> tuple[Row, ...]:
        """Return the rows that stand out; of few, all do."""
        few = len(self.rows) <= MOST_ROWS
        return self.rows if few else tuple(r for r in self.rows if any(c.odd for c in r.cells))

    @property
    def alike(self) -> tuple[Row, ...]:
        """Return the other rows."""
        return tuple(r for r in self.rows if r not in self.apart)


def facts(diagnosis: Json) -> Facts:
    """Split the facts into what differs between workers and what is equal."""
    own = [f for f in diagnosis["facts"] if not f["equal"] and of_each(f)]
    differing = [f for f in diagnosis["facts"] if not f["equal"] and f not in own]
    workers = sorted({w for f in differing for w in f["values"]}, key=worker_key)
    usual = [_usual(list(f["values"].values())) for f in differing]
    rows = tuple(
        Row(w, tuple(_cell(f["values"].get(w), u) for f, u in zip(differing, usual, strict=True)))
        for w in workers
    )
    equal = tuple(
        (f["label"], next(iter(f["values"].values()), ""), len(f["values"]))
        for f in diagnosis["facts"]
        if f["equal"]
    )
    return Facts(tuple(differing), rows, equal, tuple(own))


class Fates(NamedTuple):
    """The workers of a large cluster: those that stand out, and those that fared like most."""

    apart: tuple[Json, ...]
    alike: tuple[Json, ...]


def fates(diagnosis: Json) -> Fates:
    """Tell who stands out: the blamed, the unseen, and whoever ended otherwise than most; of few, all do."""
    workers = tuple(sorted(diagnosis["workers"], key=lambda w: worker_key(w["id"])))
    if len(workers) <= MOST_ROWS:
        return Fates(workers, ())
    usual = _usual([w["ended"]["says"] for w in workers])
    alike = tuple(
        w
        for w in workers
        if w["seen"] and w["part"] not in {"culprit", "suspect"} and w["ended"]["says"] == usual
    )
    return Fates(tuple(w for w in workers if w not in alike), alike)


def _usual(values: Sequence[str]) -> str | None:
    """Return what most workers say, or None where no value is more usual than others."""
    (value, count), *rest = Counter(values).most_common(2)
    return value if count > 1 and (not rest or rest[0][1] < count) else None


def _cell(value: str | None, usual: str | None) -> Cell:
    return Cell(value, odd=value is not None and usual is not None and value != usual)
