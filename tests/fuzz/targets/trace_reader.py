"""Profiler traces: without checksums, so that a bit may pass; a plane or a line that is lost may not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from analyzer.model.run import Tables
from analyzer.model.source_kinds import Kind
from tests.fuzz.oracles import PACKED, damaged
from tests.fuzz.target import Case, Seed, real

FIXTURE = Path(__file__).parents[2] / "fixtures_binary" / "steps.xplane.pb"
PLANE, LINE = 1, 3
SPACE_FIELDS = {PLANE: 2, 2: 2, 3: 2, 4: 2}
PLANE_FIELDS = {1: 0, 2: 2, LINE: 2, 4: 2, 5: 2, 6: 2}
"""Number of a field → how it is written, for the two outer messages of a trace."""

Field = tuple[int, bytes]


def seeds() -> Iterable[Seed]:
    """A small one, and the smallest of the sample runs."""
    yield Seed("worker-1.xplane.pb", FIXTURE.read_bytes())
    yield from real(Kind.TRACE, most=64, largest=80_000)[:3]


def fields(data: bytes, known: dict[int, int]) -> Iterator[Field]:
    """The fields of a message, by the letter.

    Raises:
        ValueError: the bytes are no such message.
    """
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if known.get(tag >> 3) != tag & 7:
            raise ValueError(tag)
        size, at = varint(data, at)
        if tag & 7 == 0:
            yield tag >> 3, b""
        elif at + size > len(data):
            raise ValueError(size)
        else:
            yield tag >> 3, data[at : at + size]
            at += size


def varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of as many bytes as it needs, and where the next begins.

    Raises:
        ValueError: it has no end.
    """
    for index in range(10):
        if at + index < len(data) and data[at + index] < 0x80:
            digits = data[at : at + index + 1]
            return sum((digit & 0x7F) << 7 * n for n, digit in enumerate(digits)), at + index + 1
    raise ValueError(at)


def lines(data: bytes) -> int:
    """How many lines all planes of a trace hold.

    Raises:
        ValueError: the bytes are no trace.
    """
    planes = [part for number, part in fields(data, SPACE_FIELDS) if number == PLANE]
    return sum(number == LINE for plane in planes for number, _ in fields(plane, PLANE_FIELDS))


def wrong(case: Case, tables: Tables) -> Iterator[str]:
    """What is no trace is damage, and a line less is too, unless the file ends between two planes."""
    if case.data.startswith(PACKED) or damaged(tables):
        return
    try:
        left = lines(case.data)
    except ValueError:
        yield "is no trace, and is called whole"
        return
    if not left:
        yield "holds no line, and is called whole"
    elif len(case.data) == len(case.seed.data) and left < lines(case.seed.data):
        yield "has lost a line, and is called whole"
