"""Tells the lines of a process from those of its machine's next boot, in a journal."""

from collections.abc import Iterable

from analyzer.ingest.logs import fact_patterns
from analyzer.ingest.logs.records import Record
from analyzer.ingest.matcher import Hit
from analyzer.ingest.reader_output import SourceRows
from analyzer.model.messages import Message

BOOTED = "machine_booted"
"""Key of the fact that the machine of a process was started anew below its last line."""
_LONGEST_DOWN = 3600
"""Maximum seconds from the last line of a process to the next boot of the machine that ended it."""


class Boots:
    """Follows the marks of boots; the first line that no program of another kind prints ends a boot's part.

    A mark above all lines of the process says nothing of it.
    """

    def __init__(self) -> None:
        self._ran = False
        self._mark: tuple[Record, Hit, Message] | None = None
        self._last: float | None = None
        self._up: float | None = None

    def covers(self, record: Record, hits: Iterable[tuple[Hit, Message | None]]) -> bool:
        """Return True for a mark, and for a line below it that may be of the machine's next boot."""
        for hit, announced in hits:
            if announced and announced.detail == BOOTED:
                if self._ran and self._mark is None:
                    self._mark, self._up = (record, hit, announced), None
                return self._mark is not None
        if record.kind != "plain":
            self._ran, self._mark, self._last = True, None, record.near or self._last
        elif self._mark:
            self._up = self._up or record.time
        return self._mark is not None

    def add_fact(self, output: SourceRows) -> None:
        """Add the fact that the machine was started anew, soon after the last line of the process."""
        if self._mark is None or (self._up and self._last and self._up - self._last > _LONGEST_DOWN):
            return
        record, hit, announced = self._mark
        for key, value in fact_patterns.facts(hit, announced):
            output.add(
                "facts", key=key, value=value, line=record.line, time=self._up, excerpt=record.pieces[0].text
            )
