"""What one reader takes from one source: rows for the tables that ingest fills."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from analyzer.ingest.packed import unpacked
from analyzer.ingest.text import decode
from analyzer.model import Source

Row = dict[str, Any]


@dataclass(slots=True)
class Reading:
    """Rows by table, and how the source itself was read."""

    source: Source
    bytes: int = 0
    lines: int | None = None
    first_time: float | None = None
    last_time: float | None = None
    read: str = "complete"
    reason: str = ""
    thinned: str = ""
    """Which of its lines were read, of a log too large to read them all."""
    rows: dict[str, list[Row]] = field(default_factory=dict)

    def add(self, table: str, **cells: Any) -> None:  # noqa: ANN401 - cells are checked by schema.frame
        """One row; which worker, attempt and source it belongs to is filled in."""
        self.rows.setdefault(table, []).append(cells)

    def saw(self, time: float | None) -> None:
        """Widen the span of time that the source covers."""
        if time is not None and isfinite(time):
            self.first_time = time if self.first_time is None else min(self.first_time, time)
            self.last_time = time if self.last_time is None else max(self.last_time, time)

    def lost(
        self, what: str, *, offset: int | None = None, length: int | None = None, line: int | None = None
    ) -> None:
        """A stretch that could not be read."""
        self.read, self.reason = "partial", self.reason or what
        self.rows.setdefault("damage", []).append(
            {"source": self.source.name, "offset": offset, "length": length, "line": line, "what": what}
        )

    def skip(self, reason: str) -> None:
        """The source was not read at all."""
        self.read, self.reason = "skipped", reason


def whole_text(reading: Reading) -> str:
    """The text of a small file; its size, and what of it was lost, are noted.

    Raises:
        OSError: the file cannot be read.

    """
    data, damage = unpacked(reading.source.path)
    if damage:
        reading.lost(damage)
    text = decode(data)
    reading.bytes, reading.lines = len(data), len(text.splitlines())
    return text
