"""The output of a reader for one source: rows for the tables, and how it was read."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice, repeat
from json import JSONDecodeError
from typing import Any

from analyzer.ingest.logs.text import decode
from analyzer.model.budget import Budget
from analyzer.model.run import Source
from analyzer.storage.decompress import read_whole

MIN_COLUMN_ROWS = 500
"""Number of rows of a run from which columns are faster than row dicts."""
_COLUMNAR = frozenset({"matches", "records", "scalars"})
"""Tables of logs to which nothing is added once the log is read."""

Row = dict[str, Any]
Columns = Mapping[str, Sequence[Any]]
"""Column name → cells; all columns have one length, and omitted columns are null."""

MAX_TIME = 253_402_300_800.0
"""The end of the year 9999, in seconds since the epoch."""
MAX_BRACKETS = 1_000_000
"""Opening brackets of a JSON text that is parsed; each makes a Python object of 64 bytes or more."""
_TIMES = ("time", "near")
"""Columns that hold a time in the tables of logs."""


def _shifted(times: Sequence[float | None], seconds: float | None) -> list[float | None]:
    return [None if time is None or seconds is None else time + seconds for time in times]


def is_time(seconds: float) -> bool:
    """Return whether a number of seconds since the epoch is a time up to the year 9999."""
    return 0 <= seconds < MAX_TIME


class SourceRows:
    """The rows of one source by table, and how the source was read."""

    def __init__(
        self,
        source: Source,
        budget: Budget | None = None,
        *,
        share: int = 1,
        thinned: str = "",
        text: str | None = None,
    ) -> None:
        """Create without rows.

        `budget` limits what reading takes. `share` is the number of sources of this kind, which divide the
        rows that a run may hold; `thinned` describes which part of a large source is read, empty if all is.
        `text` is the content of a source that is a part of a file, and is not read again.
        """
        self.source, self.share, self._budget = source, share, budget
        self.bytes = 0
        self.lines: int | None = None
        self.first_time: float | None = None
        self.last_time: float | None = None
        self.lacks_date = False
        """True if its times count from midnight in 1970, because it states the time of day alone."""
        self.time_zone: str | None = None
        """The zone of a log's times: `UTC`, `unstated`, or `mixed` if some lines state one; else None."""
        self.utc_offset: float | None = None
        """Seconds by which its local times, converted by now, were ahead of UTC; None if unknown."""
        self.read, self.reason = "complete", ""
        self.thinned, self.text = thinned, text
        self.rows: dict[str, list[Row]] = {}
        self.columns: dict[str, Columns] = {}
        """Table → its rows as columns; such a table has no entry in `rows`."""

    @cached_property
    def budget(self) -> Budget:
        """Return the budget for reading the source, by default a new one with the default limits."""
        return self._budget or Budget()

    def add(self, table: str, **cells: Any) -> None:  # noqa: ANN401 - cells are checked by schema.frame
        """Add one row; worker and attempt are given only if the file itself states them."""
        self.rows.setdefault(table, []).append(cells)

    def hold_in_columns(self, sources: int) -> None:
        """Convert tables to columns if they are large in `sources` logs like this; absent cells become null.

        Columns pickle and convert to a frame about 3x faster than row dicts, and take half the memory.
        """
        for table in _COLUMNAR & self.rows.keys():
            if len(self.rows[table]) * sources >= MIN_COLUMN_ROWS:
                rows = self.rows.pop(table)
                names = dict.fromkeys(chain.from_iterable(rows))
                self.columns[table] = {name: [row.get(name) for row in rows] for name in names}

    def cells(self, table: str, *names: str) -> Iterator[tuple[Any, ...]]:
        """Yield the selected cells of each row of a table; missing ones are None."""
        yield from (tuple(map(row.get, names)) for row in self.rows.get(table, ()))
        if columns := self.columns.get(table):
            nothing = repeat(None)
            length = len(next(iter(columns.values())))
            yield from islice(zip(*(columns.get(name, nothing) for name in names), strict=False), length)

    def observe_time(self, time: float | None) -> None:
        """Extend the time span that the source covers."""
        if time is not None and is_time(time):
            self.first_time = time if self.first_time is None else min(self.first_time, time)
            self.last_time = time if self.last_time is None else max(self.last_time, time)

    def shift_times(self, seconds: float | None) -> None:
        """Shift all times of the source, once its year or date is known; None removes them."""
        for row in chain.from_iterable(self.rows.values()):
            held = [key for key in _TIMES if row.get(key) is not None]
            row.update(zip(held, _shifted([row[key] for key in held], seconds), strict=True))
        for table, columns in self.columns.items():
            times = {key: columns[key] for key in _TIMES if key in columns}
            moved = {key: _shifted(cells, seconds) for key, cells in times.items()}
            self.columns[table] = {**columns, **moved}
        self.first_time, self.last_time = _shifted((self.first_time, self.last_time), seconds)

    def add_damage(
        self, what: str, *, offset: int | None = None, length: int | None = None, line: int | None = None
    ) -> None:
        """Add an unreadable part; `offset` and `length` in bytes, `line` from 1."""
        self.read, self.reason = "partial", self.reason or what
        self.add("damage", source=self.source.name, offset=offset, length=length, line=line, what=what)

    def skip(self, reason: str) -> None:
        """Mark the source as not read."""
        self.read, self.reason = "skipped", reason


def whole_text(output: SourceRows, ends: bytes = b"\n") -> str:
    """Return the text of a small file; record its size and damage.

    `ends` is what separates its lines, e.g. NUL in `/proc/PID/environ`; line breaks replace it.

    Raises:
        OSError: the file cannot be read.
    """
    if output.text is not None:
        output.bytes, output.lines = len(output.text), len(output.text.splitlines())
        return output.text
    data, damage = read_whole(output.source.path, output.budget)
    if damage:
        output.add_damage(damage)
    if not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        data = data.replace(ends, b"\n")
    if is_too_dense(data):
        output.add_damage(f"holds more than {MAX_BRACKETS} brackets, and is not read")
        data = b""
    text = decode(data)
    for what, offset in flaws(data, text):
        output.add_damage(what, offset=offset)
    output.bytes, output.lines = len(data), len(text.splitlines())
    return text


def is_too_dense(data: bytes) -> bool:
    """Return whether a text has so many brackets that, as JSON, it takes many times its size in memory."""
    return data.count(b"{") + data.count(b"[") > MAX_BRACKETS


def flaws(data: bytes, text: str) -> Iterator[tuple[str, int | None]]:
    """Yield (problem, offset) for wrong encodings and NUL bytes in a text; the offset may be unknown.

    `text` is `data` decoded.
    """
    wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    if "\ufffd" in text:
        try:
            data.decode("utf-16" if wide else "utf-8")
        except UnicodeDecodeError as error:
            yield f"holds bytes that are no {'UTF-16' if wide else 'UTF-8'}", error.start
    if "\0" in text:
        place = None if wide else data.find(b"\0")
        yield "holds NUL bytes, like a file that was not closed properly", place


def why_no_json(error: Exception) -> str:
    """Return why parsing JSON failed, as words behind a colon; `error` is what `json.loads` raised."""
    if isinstance(error, JSONDecodeError):
        return error.msg
    return "its brackets go too deep" if isinstance(error, RecursionError) else "it holds an endless number"
