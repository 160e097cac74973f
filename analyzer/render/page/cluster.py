"""Workers and their facts as tables: what differs is lit, what is equal is folded."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from analyzer.render.words import worker_key

Json = Mapping[str, Any]


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


def facts(diagnosis: Json) -> Facts:
    """Split the facts into what differs between workers and what is equal."""
    differing = [f for f in diagnosis["facts"] if not f["equal"]]
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
    return Facts(tuple(differing), rows, equal)


def _usual(values: Sequence[str]) -> str | None:
    """Return what most workers say, or None where no value is more usual than others."""
    (value, count), *rest = Counter(values).most_common(2)
    return value if count > 1 and (not rest or rest[0][1] < count) else None


def _cell(value: str | None, usual: str | None) -> Cell:
    return Cell(value, odd=value is not None and usual is not None and value != usual)
