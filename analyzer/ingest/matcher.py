"""Finds the records that match patterns: literals in one pass over the bytes, then a regex per hit.

Hyperscan finds the literals, whatever their number; `regex` confirms a hit and takes the captures, on that
one record and under a time limit.
"""

from __future__ import annotations

import hashlib
import pickle
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from time import thread_time
from typing import TYPE_CHECKING, NamedTuple

from analyzer.ingest.logs.records import Wording, wording
from analyzer.ingest.scan.prefilter import Prefilter, database
from analyzer.model.messages import NONE, Messages
from analyzer.model.run import Pattern
from analyzer.storage.disk_cache import cached
from analyzer.tables.grouping import grouped

if TYPE_CHECKING:
    import regex

SEARCH_SECONDS = 0.25
"""Time limit of one regex on one record."""

WASTED_SECONDS = 0.5
"""Limit for the total time of one regex's slow searches in a run."""

_SLOW_SECONDS = 0.05
"""A search that takes longer counts as slow; linear regexes never do."""

_QUOTED = "words"
"""Name of the regex group with the part of a line that a rule quotes."""


class Hit(NamedTuple):
    """A pattern that matched a record: its groups, and the matched text from character `start` on."""

    pattern: str
    captures: Mapping[str, str]
    matched: str
    start: int


class Matcher:
    """Finds the records that match any pattern.

    Raises nothing on hostile text: a regex that exceeds its time is noted in `slow`, counts as no match, and
    is not tried again on that file; one that has wasted too much time is not tried again on any file.
    """

    def __init__(self, patterns: Sequence[Pattern], messages: Messages = NONE) -> None:
        """Compile all literals of `patterns`, and of the messages that state facts, into one database."""
        self.messages = messages
        self.facts = {f"fact/{message.id}": message for message in messages.stating("fact")}
        """Pattern id → the message that states a fact."""
        facts = self.facts.items()
        stated = [Pattern(id_, m.literals, m.expression if m.regex else None) for id_, m in facts]
        patterns = [*patterns, *stated]
        self.patterns = {pattern.id: pattern for pattern in patterns}
        self.slow: set[str] = set()
        """Ids of the patterns that were disabled on the current file because they were too slow."""
        self._wasted: dict[str, float] = {}
        self._expressions: dict[str, regex.Pattern[str]] = {}
        wanting = grouped((literal, pattern.id) for pattern in patterns for literal in pattern.literals)
        self.literals = sorted(wanting)
        self._wanting = [wanting[literal] for literal in self.literals]
        self._database = database(self.literals, literal=True) if self.literals else None

    @cached_property
    def prefilter(self) -> Prefilter:
        """Return the prefilter for large logs, compiled on first use."""
        return Prefilter(self.literals)

    @cached_property
    def wording(self) -> Wording:
        """Return the prefixes of continuation lines, for all files."""
        return wording(self.messages)

    @cached_property
    def _pickled(self) -> Mapping[str, bytes]:
        """Return regex → its compiled form, pickled: compiling a few takes 10 ms of every small run."""
        import regex

        wanted = sorted({pattern.regex for pattern in self.patterns.values() if pattern.regex})
        key = hashlib.sha256("\0".join((regex.__version__, *wanted)).encode()).hexdigest()[:24]
        return cached("regexes", key, lambda: _compile_regexes(wanted), pickle.dumps, pickle.loads)

    def begin_file(self) -> None:
        """Re-enable patterns that were disabled on the previous file."""
        import regex  # noqa: F401 - before reader processes are forked, so that they share it

        self.slow.clear()

    def lines(self, data: bytes) -> dict[int, set[str]]:
        """Map line numbers (from 1) to the ids of the patterns that have a literal in the line."""
        ends: list[tuple[int, int]] = []

        def note(literal: int, _start: int, end: int, _flags: int, _context: object) -> None:
            ends.append((end, literal))

        if self._database is None or not data:
            return {}
        self._database.scan(data, match_event_handler=note)
        return _by_line(data, ends, self._wanting)

    def confirm(self, ids: Iterable[str], text: str, level: str | None) -> list[Hit]:
        """Return the hits of those patterns whose regex matches the record."""
        hits = (self._confirm(self.patterns[id_], text, level) for id_ in sorted(ids))
        return [hit for hit in hits if hit]

    def _confirm(self, pattern: Pattern, text: str, level: str | None) -> Hit | None:
        if pattern.levels and level not in pattern.levels:
            return None
        if pattern.regex is None:
            literal = next((literal for literal in pattern.literals if literal in text), None)
            return Hit(pattern.id, {}, literal, text.index(literal)) if literal else None
        match = self._search(pattern.id, pattern.regex, text)
        if not match:
            return None
        captures = {k: v for k, v in match.groupdict().items() if v is not None}
        if _QUOTED in captures:
            captures[_QUOTED] = _without_cut_word(text, match.start(_QUOTED), captures[_QUOTED])
        return Hit(pattern.id, captures, match[0], match.start())

    def _search(self, pattern: str, expression: str, text: str) -> regex.Match[str] | None:
        left = WASTED_SECONDS - self._wasted.get(pattern, 0.0)
        if pattern in self.slow or left <= 0:
            self.slow.add(pattern)
            return None
        compiled = self._expressions.get(pattern)
        if compiled is None:
            compiled = self._expressions[pattern] = pickle.loads(self._pickled[expression])  # noqa: S301 - our own
        began, limit = thread_time(), min(SEARCH_SECONDS, left)
        try:
            match = compiled.search(text, timeout=limit)
        except TimeoutError:
            self.slow.add(pattern)
            self._waste(pattern, limit)
            return None
        if (took := thread_time() - began) > _SLOW_SECONDS:
            self._waste(pattern, took)
        return match

    def _waste(self, pattern: str, seconds: float) -> None:
        self._wasted[pattern] = self._wasted.get(pattern, 0.0) + seconds


def _without_cut_word(text: str, start: int, quoted: str) -> str:
    """Return the quotation that begins at `start` of the text; `…` replaces a first word that is cut."""
    is_cut = start > 0 and text[start - 1 : start + 1].replace("_", "a").isalnum()
    return f"…{quoted.partition(' ')[2]}" if is_cut and " " in quoted else quoted


def _compile_regexes(expressions: Sequence[str]) -> dict[str, bytes]:
    import regex

    return {each: pickle.dumps(regex.compile(each, regex.DOTALL)) for each in expressions}


def _by_line(data: bytes, ends: list[tuple[int, int]], wanting: list[list[str]]) -> dict[int, set[str]]:
    found: dict[int, set[str]] = {}
    newlines = [match.start() for match in re.finditer(b"\n", data)] if ends else []
    for end, literal in ends:
        found.setdefault(bisect_right(newlines, end - 1) + 1, set()).update(wanting[literal])
    return found
