"""Where the traced time of each worker went, as bars, and for whom the others waited."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from analyzer.render import words

Json = Mapping[str, Any]
BAR = 240.0
_NOT_WORTH_A_WORD, _NOT_SEEN = 0.1, 0.01


class Part(NamedTuple):
    """A part of a bar, from `x`, as wide as its share of the time."""

    kind: str
    x: float
    width: float


class Row(NamedTuple):
    """One worker: its bar and its figures."""

    item: Json
    parts: tuple[Part, ...]
    rest: float | None
    blamed: bool


class Trace(NamedTuple):
    """Everything the template draws."""

    rows: tuple[Row, ...]
    told: str
    width: float = BAR


def trace(diagnosis: Json) -> Trace | None:
    """Lay out the bars, or return None where no trace was read."""
    traced = diagnosis.get("trace", [])
    if not traced:
        return None
    blamed = {*diagnosis["culprits"]} or {*diagnosis["suspects"]}
    ordered = sorted(traced, key=lambda t: words.worker_key(t["worker"]))
    return Trace(tuple(_row(t, t["worker"] in blamed) for t in ordered), _told(ordered))


def _row(item: Json, blamed: bool) -> Row:
    collective, own_input = item["collective_share"], item["input_share"]
    if collective is None:
        return Row(item, (), None, blamed)
    collective = min(collective, 1.0)
    waiting = min(own_input or 0.0, 1.0 - collective)
    waiting = waiting if waiting >= _NOT_SEEN else 0.0
    rest = 1.0 - collective - waiting
    ends = [0.0, rest, rest + waiting, 1.0]
    parts = [
        Part(kind, round(BAR * start, 1), round(BAR * (end - start), 1))
        for kind, start, end in zip(("own", "input", "collective"), ends, ends[1:], strict=False)
    ]
    return Row(item, tuple(p for p in parts if p.width), rest, blamed)


def _told(traced: Sequence[Json]) -> str:
    last = [t for t in traced if t["last"]]
    if len(traced) == 1:
        return "Only one worker was traced, so nobody can be compared with it."
    if last:
        share, took = (
            words.percent(last[0]["delay_share"] or 0),
            words.duration(last[0]["delay_seconds"] or 0),
        )
        return (
            f"{last[0]['worker']} comes last to the collectives: "
            f"the others wait for it {share} of the time ({took})."
        )
    most = max(traced, key=lambda t: t["delay_share"] or 0.0)
    if (most["delay_share"] or 0.0) < _NOT_WORTH_A_WORD:
        return "Nobody comes last: all workers wait about equally long."
    return (
        f"Nobody alone comes last; {most['worker']} keeps the others waiting the longest, "
        f"{words.percent(most['delay_share'])} of the time."
    )
