"""What one reader takes from one source: rows for the tables that ingest fills."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice, repeat
from json import JSONDecodeError
from math import isfinite
from typing import Any

from analyzer.ingest.logs.text import decode
from analyzer.model.run import Source
from analyzer.storage.decompress import read_whole

MANY = 500
"""Rows of a source from which on it pays to hold them as columns; to begin one takes as long as hundreds."""

Row = dict[str, Any]
Columns = Mapping[str, Sequence[Any]]
"""Columns of one length by their names; one that is left out is null."""


_TIMES = ("time", "near")
"""Cells of the tables of logs that hold a time."""


class SourceRows:
    """Rows by table, and how the source itself was read."""

    def __init__(self, source: Source, *, thinned: str = "") -> None:
        """Nothing was taken from it yet; `thinned` says which lines are read, of a log too large for all."""
        self.source = source
        self.bytes = 0
        self.lines: int | None = None
        self.first_time: float | None = None
        self.last_time: float | None = None
        self.read, self.reason = "complete", ""
        self.thinned = thinned
        self.rows: dict[str, list[Row]] = {}
        self.columns: dict[str, Columns] = {}
        """By table: rows so many and so alike that they are held as columns; then `rows` has none of them."""

    @property
    def has_rows(self) -> bool:
        """Whether anything was taken from it."""
        return bool(self.rows or self.columns)

    def add(self, table: str, **cells: Any) -> None:  # noqa: ANN401 - cells are checked by schema.frame
        """One row; its worker and its attempt are given only where the file itself states them."""
        self.rows.setdefault(table, []).append(cells)

    def hold_in_columns(self, table: str) -> None:
        """Hold the rows of a table as columns, if they are many; a cell that one of them leaves out is null.

        They are sent to another process, and made a frame of, in a third of the time.
        """
        if len(self.rows.get(table, ())) >= MANY:
            rows = self.rows.pop(table)
            names = dict.fromkeys(chain.from_iterable(rows))
            self.columns[table] = {name: [row.get(name) for row in rows] for name in names}

    def cells(self, table: str, *names: str) -> Iterator[tuple[Any, ...]]:
        """Some cells of each row of a table, however it is held; one that is left out is None."""
        yield from (tuple(map(row.get, names)) for row in self.rows.get(table, ()))
        if columns := self.columns.get(table):
            nothing = repeat(None)
            length = len(next(iter(columns.values())))
            yield from islice(zip(*(columns.get(name, nothing) for name in names), strict=False), length)

    def observe_time(self, time: float | None) -> None:
        """Widen the span of time that the source covers."""
        if time is not None and isfinite(time):
            self.first_time = time if self.first_time is None else min(self.first_time, time)
            self.last_time = time if self.last_time is None else max(self.last_time, time)

    def shift_times(self, seconds: float) -> None:
        """Move all times of the source, of which only the year was not known."""
        for row in chain.from_iterable(self.rows.values()):
            row.update({key: row[key] + seconds for key in _TIMES if row.get(key) is not None})
        for table, columns in self.columns.items():
            moved = {
                key: [None if time is None else time + seconds for time in columns[key]]
                for key in _TIMES
                if key in columns
            }
            self.columns[table] = {**columns, **moved}
        self.first_time, self.last_time = (
            None if time is None else time + seconds for time in (self.first_time, self.last_time)
        )

    def add_damage(
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


def whole_text(output: SourceRows, ends: bytes = b"\n") -> str:
    """The text of a small file; its size, and what of it was lost, are noted.

    What ends its lines, as a NUL does in an environment, becomes a line break.

    Raises:
        OSError: the file cannot be read.

    """
    data, damage = read_whole(output.source.path)
    if damage:
        output.add_damage(damage)
    if not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        data = data.replace(ends, b"\n")
    text = decode(data)
    for what, offset in flaws(data, text):
        output.add_damage(what, offset=offset)
    output.bytes, output.lines = len(data), len(text.splitlines())
    return text


def flaws(data: bytes, text: str) -> Iterator[tuple[str, int | None]]:
    """What of a text is none, and at which byte: what is of no encoding, and the NUL bytes of a hole.

    `text` is what was made of `data`; it tells fast whether there is anything to look for.
    """
    wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    if "\ufffd" in text:
        try:
            data.decode("utf-16" if wide else "utf-8")
        except UnicodeDecodeError as error:
            yield f"holds bytes that are no {'UTF-16' if wide else 'UTF-8'}", error.start
    if "\0" in text:
        place = None if wide else data.find(b"\0")
        yield "holds NUL bytes, as a file does that was not closed properly", place


def why_no_json(error: Exception) -> str:
    """What is wrong with a text that Python refuses as JSON, in a few words."""
    if isinstance(error, JSONDecodeError):
        return error.msg
    return "its brackets go too deep" if isinstance(error, RecursionError) else "it holds an endless number"
