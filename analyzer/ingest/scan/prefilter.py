"""Finds everything that makes a line of a large log worth reading, in one pass over raw bytes.

It searches for the literals of all patterns (plain, and as escaped in JSON), for the words of warnings and
errors, and for values that are not finite.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple, cast

import hyperscan

from analyzer.ingest.scan.byte_stats import Data
from analyzer.storage.disk_cache import cached

ALARMS: Mapping[str, tuple[str, ...]] = {
    "a warning of TensorFlow": (": W ", r"W[01]\d{3} \d\d:\d\d:\d"),
    "an error of TensorFlow": (": E ", ": F ", r"E[01]\d{3} \d\d:\d\d:\d", r"F[01]\d{3} \d\d:\d\d:\d"),
    "WARNING": (r"\bWARN(?:ING)?\b",),
    "ERROR": (r"\b(?:ERROR|EXCEPTION|CRITICAL|FATAL)\b",),
    "a traceback": (r"Traceback \(most recent call last\)|Fatal Python error: ",),
    "a value that is not finite": (r"[\s:=(\[\"'][-+]?(?:[Nn][Aa][Nn]|[Ii][Nn][Ff](?:inity)?)\b",),
}  # fmt: skip
"""Label → regular expressions that are searched for besides the literals of patterns.

Character classes stand only in front of letters, hold few characters, and never end an expression: each of
these would halve the speed of the whole scan.
"""

TRACEBACK = "a traceback"


class Occurrence(NamedTuple):
    """The number of an expression, and the offset just past one match of it."""

    expression: int
    end: int


class Prefilter:
    """Finds all literals and alarms in blocks of bytes; one thread at a time may use it.

    `labels` names each expression by its literal or alarm.
    """

    def __init__(self, literals: Iterable[str]) -> None:
        """Compile all expressions, or load them from the disk cache."""
        spellings = {form: literal for literal in sorted(literals) for form in sorted(_spellings(literal))}
        self.labels = [*spellings.values(), *(label for label, forms in ALARMS.items() for _ in forms)]
        expressions = [*map(re.escape, spellings), *chain.from_iterable(ALARMS.values())]
        self._first = database(expressions, flags=hyperscan.HS_FLAG_SINGLEMATCH)
        self._all = database(expressions)

    def first_occurrences(self, block: Data) -> list[Occurrence]:
        """Return the first occurrence of each expression in a block."""
        return _scan(self._first, block)

    def all_occurrences(self, block: Data) -> list[Occurrence]:
        """Return every occurrence of every expression in a block, in order."""
        return sorted(_scan(self._all, block), key=lambda found: found.end)


def _spellings(literal: str) -> set[str]:
    """Return the spellings of a literal in plain logs and in JSON lines."""
    return {literal, json.dumps(literal)[1:-1], json.dumps(literal, ensure_ascii=False)[1:-1]}


def _scan(database: hyperscan.Database, block: Data) -> list[Occurrence]:
    found: list[Occurrence] = []

    def note(expression: int, _start: int, end: int, _flags: int, _context: object) -> None:
        found.append(Occurrence(expression, end))

    database.scan(cast("bytes", block), match_event_handler=note)  # it takes any buffer
    return found


def database(expressions: Sequence[str], *, literal: bool = False, flags: int = 0) -> hyperscan.Database:
    """Compile expressions, or load them from the disk cache: compiling takes longer than a small run."""

    def compile_all() -> hyperscan.Database:
        new = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        encoded = [expression.encode() for expression in expressions]
        new.compile(expressions=encoded, ids=list(range(len(encoded))), flags=flags, literal=literal)
        return new

    key = hashlib.sha256("\0".join([f"{literal} {flags}", *expressions]).encode()).hexdigest()[:24]
    kind = "literals" if literal else "expressions"
    return cached(kind, key, compile_all, hyperscan.dumpb, _load)


def _load(content: bytes) -> hyperscan.Database:
    """Load a compiled database; Hyperscan raises if it is damaged or of another version."""
    database = hyperscan.loadb(content, hyperscan.HS_MODE_BLOCK)
    database.scratch = hyperscan.Scratch(database)
    return database
