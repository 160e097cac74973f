"""Readings of CPU, GPU and memory usage that scripts print into their logs.

The last part of a tag is its unit: percent, bytes, celsius or watts. Tags of a GPU start with its index,
`gpu0/memory_used_bytes`, or with `gpu/` if the index is unknown.
"""

import re
from collections.abc import Iterator

from analyzer.ingest.logs.records import Record
from analyzer.ingest.reader_output import SourceRows
from analyzer.model.lazy_regex import lazy_regex
from analyzer.model.schema import GAUGE

_HINTS = ("cpu", "gpu", "mem", "rss", "ram")
_READING = lazy_regex(
    r"""(?<![a-z0-9/.-])(?=[acfghlmprstuv])
    (?P<before>
        (?:(?:peak|max(?:imum)?|available|free|total|used|current|process|proc|host|system)[ _-]){0,2})
    (?:(?P<gpu>gpu)[ _:\#-]?(?P<index>\d{1,2})?\]?[ _:/-]{0,2})?
    (?:(?P<quantity>cpu|rss|v?ram|mem(?:ory)?|util(?:i[sz]ation)?|usage|load)(?![a-z]))?
    (?P<qualifier>(?:[ _-]?(?:util(?:i[sz]ation)?|usage|used?|percent(?:age)?|pct|load|allocated|available
        |avail        |free|total|limit|peak|rss|consumption)(?![a-z])){0,3})
    (?:[ _-](?P<in>[kmgt]i?b)(?![a-z]))?
    ["']?\s{0,3}(?P<sign>\(?%\)?)?\s{0,3}(?:[:=]|\bis\b|\bat\b)?\s{0,3}["']?
    (?P<number>\d{1,18}(?:\.\d{1,9})?)\s?(?P<unit>%|(?:[kmgtp]i?b?|bytes|b)(?!\w))?(?![\w.])
    (?:\s?(?:/|of|out[ ]of)\s?(?P<total>\d{1,18}(?:\.\d{1,9})?)\s?(?P<of>[kmgtp]i?b?|bytes|b)(?!\w))?""",
    re.VERBOSE,
)
_UNIT = lazy_regex(r"%|\d\s?[kmgtpb]|percent|pct|[ _-][kmgt]i?b(?![a-z])")
_MEMORY = frozenset({"rss", "ram", "vram", "mem", "memory"})
_MAX_LINE_CHARS = 600
"""Longer lines are not searched for readings."""
_LARGEST_SHARE = 100_000.0
"""Largest accepted percentage; of one core, because a process may use hundreds of cores."""
_POWERS = "bkmgtp"
_PARTS = (
    ("avail", "available"), ("free", "free"), ("total", "total"), ("limit", "limit"), ("peak", "peak"),
    ("max", "peak"),
)  # fmt: skip

Gauge = tuple[str, float]
"""Tag and value of one reading; the tag ends with its unit."""


def gauges(text: str) -> Iterator[Gauge]:
    """Yield the readings of a line such as `CPU utilization: 93.0%` or `memory: 5.1 GiB / 16 GiB`.

    A number counts only if a unit follows it, or if its name says that it is a percentage.
    """
    if len(text) > _MAX_LINE_CHARS:
        return
    lower = text.lower()
    if not any(map(lower.__contains__, _HINTS)) or not _UNIT.search(lower):
        return
    numbered = ""
    for found in _READING.finditer(lower):
        device = f"gpu{found['index'] or ''}/" if found["gpu"] else ""
        if found["index"]:
            numbered = device
        elif found["quantity"] not in {"cpu", "ram", "rss"}:
            device = device or numbered
        yield from _gauges_of(device, found)


def _gauges_of(device: str, found: re.Match[str]) -> Iterator[Gauge]:
    quantity, qualifier = found["quantity"] or "", f"{found['qualifier']} {found['before']}"
    unit = found["unit"] or found["of"] or found["in"]
    if unit == "%" or (unit is None and (found["sign"] or re.search("percent|pct", qualifier))):
        yield from _share(device, quantity, qualifier, float(found["number"]))
    elif unit and quantity in _MEMORY:
        kind = "rss" if re.search("rss|proc", quantity + qualifier) else "memory"
        part = _part(qualifier)
        stem = "rss" if kind == "rss" and part == "used" else f"{kind}_{part}"
        yield f"{device}{stem}_bytes", size(found["number"], unit)
        if found["total"] and part == "used":
            yield f"{device}memory_total_bytes", size(found["total"], found["of"])


def _share(device: str, quantity: str, qualifier: str, value: float) -> Iterator[Gauge]:
    if value > _LARGEST_SHARE:
        return
    if quantity == "cpu" and not device:
        yield "cpu_percent", value
    elif quantity in _MEMORY:
        yield f"{device}memory_{_part(qualifier)}_percent", value
    elif device:
        yield f"{device}utilization_percent", value


def _part(words: str) -> str:
    return next((part for word, part in _PARTS if word in words), "used")


def size(number: str, unit: str) -> float:
    """Return a size in bytes; `MB` counts as 1024², as most programs use it."""
    return float(number) * 1024.0 ** max(0, _POWERS.find(unit[:1].lower()))


def add_gauge(output: SourceRows, tag: str, value: float, *, line: int, time: float | None = None) -> None:
    """Add one reading to `scalars`."""
    output.add("scalars", line=line, tag=tag, time=time, value=value, scope="local", origin=GAUGE)


def add_gauges(output: SourceRows, record: Record) -> None:
    """Add the readings of one log record to `scalars`."""
    for piece, body in zip(record.pieces, record.bodies, strict=False):
        for tag, value in gauges(body):
            add_gauge(output, tag, value, line=piece.number, time=record.time)
