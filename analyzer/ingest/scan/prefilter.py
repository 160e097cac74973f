"""What makes a line of a large log worth reading, found without taking any line apart.

A scout knows the literals of all patterns, in plain and as JSON writes them, the words by which a log raises
an alarm, and numbers that are none. It says of a block of bytes which of them stand in it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from itertools import chain
from typing import NamedTuple, cast

import hyperscan

from analyzer.ingest.scan.byte_stats import Data
from analyzer.storage.disk_cache import cached

ALARMS: Mapping[str, tuple[str, ...]] = {
    "a warning of TensorFlow": (": W ", r"W[01]\d{3} \d\d:\d\d:\d"),
    "an error of TensorFlow": (
        ": E ", ": F ", r"E[01]\d{3} \d\d:\d\d:\d", r"F[01]\d{3} \d\d:\d\d:\d",
    ),
    "WARNING": (r"\bWARN(?:ING)?\b",),
    "ERROR": (r"\b(?:ERROR|EXCEPTION|CRITICAL|FATAL)\b",),
    "a traceback": (r"Traceback \(most recent call last\)|Fatal Python error: ",),
    "a value that is not finite": (r"[\s:=(\[\"'][-+]?(?:[Nn][Aa][Nn]|[Ii][Nn][Ff](?:inity)?)\b",),
}  # fmt: skip
"""What is looked for beside the literals of patterns: what it is → how it is written.

Few signs of a class stand in front of letters, and none behind them: either halves the speed of all.
"""

TRACEBACK = "a traceback"
_EPOCH = r"Epoch \d+/\d+"


class Found(NamedTuple):
    """One place: the number of what was found, and the byte behind it."""

    what: int
    end: int


class Prefilter:
    """Finds what it knows in blocks of bytes; `names` says what each number stands for.

    `epoch` is the number of what has no name, and is found by `first` alone.
    One thread at a time may use it; `twin` gives one for another thread.
    """

    def __init__(self, literals: Iterable[str]) -> None:
        """Compile everything, or take it from the last call that knew the same."""
        spelled = {form: literal for literal in sorted(literals) for form in sorted(_forms(literal))}
        self.names = [*spelled.values(), *(what for what, ways in ALARMS.items() for _ in ways)]
        self.epoch = len(self.names)
        expressions = [*map(re.escape, spelled), *chain.from_iterable(ALARMS.values())]
        self._first = _database([*expressions, _EPOCH], hyperscan.HS_FLAG_SINGLEMATCH)
        self._each = _database(expressions, 0)
        self._scratches = self._first.scratch, self._each.scratch

    def twin(self) -> Prefilter:
        """One that knows the same, for another thread."""
        twin = copy(self)
        twin._scratches = self._first.scratch.clone(), self._each.scratch.clone()  # noqa: SLF001 - of our class
        return twin

    def first(self, block: Data) -> list[Found]:
        """Everything that stands in a block, at the first place of each."""
        return _scanned(self._first, block, self._scratches[0])

    def each(self, block: Data) -> list[Found]:
        """Everything that stands in a block, at every place, in order."""
        return sorted(_scanned(self._each, block, self._scratches[1]), key=lambda found: found.end)


def _forms(literal: str) -> set[str]:
    """How a literal is written in a log, and in a log whose lines are JSON."""
    return {literal, json.dumps(literal)[1:-1], json.dumps(literal, ensure_ascii=False)[1:-1]}


def _scanned(database: hyperscan.Database, block: Data, scratch: hyperscan.Scratch) -> list[Found]:
    found: list[Found] = []

    def note(what: int, _start: int, end: int, _flags: int, _context: object) -> None:
        found.append(Found(what, end))

    database.scan(cast("bytes", block), match_event_handler=note, scratch=scratch)  # it takes any buffer
    return found


def _database(expressions: Sequence[str], flags: int) -> hyperscan.Database:
    """Find any of some expressions; the database is kept, for compiling it takes longer than a small run."""
    key = hashlib.sha256("\0".join([str(flags), *expressions]).encode()).hexdigest()[:24]
    return cached("scout", key, lambda: _compiled(expressions, flags), hyperscan.dumpb, unpacked)


def _compiled(expressions: Sequence[str], flags: int) -> hyperscan.Database:
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=[each.encode() for each in expressions],
        ids=list(range(len(expressions))),
        flags=flags,
    )
    return database


def unpacked(content: bytes) -> hyperscan.Database:
    """Read a kept database; Hyperscan itself refuses one that is damaged or of another version."""
    database = hyperscan.loadb(content, hyperscan.HS_MODE_BLOCK)
    database.scratch = hyperscan.Scratch(database)
    return database
