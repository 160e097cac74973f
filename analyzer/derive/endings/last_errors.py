"""Finds the error of the job's own program with which the log of a worker ends."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import polars as pl

from analyzer.derive.training.ordering import Row, comes_after, last_telling
from analyzer.model.lazy_regex import lazy_regex
from analyzer.model.messages import Wording
from analyzer.tables.builders import frame

_FAREWELLS = 3
"""Maximum number of lines that a program logs between its error and its end: that it leaves, or cleans up."""
_FAREWELL_SECONDS = 5.0
"""Maximum time from the error to the last of these lines: who lives on after an error did not end by it."""

TENSORFLOW_LOGGERS = ("absl", "tensorflow")
"""Python's loggers whose lines are TensorFlow's, not the script's."""
_UP_TO_LEVEL = lazy_regex(r"(?i)\A[^\n]*?\b(?:error|critical|fatal)\b[\s:|\]-]*")
_PRINTED_LEVEL = lazy_regex(r"\A\[?(?:ERROR|CRITICAL|FATAL)(?:\]:?|:)\s+(?=\S)")
"""Regex of the level at the start of a line that a program prints without a logger."""
_NAMES_EXCEPTION = lazy_regex(
    r"(?<![\w.])(?:[a-z_]\w*\.)*(?!(?:Unavailable|Aborted|Cancelled|DeadlineExceeded|Internal)Error)"
    r"[A-Z]\w*(?:Error|Exception): ?\S"
)
_NAMES_OS_ERROR = lazy_regex(
    r"\[Errno \d+\] \w|; (?:Read-only file system|Permission denied|No such file or directory)\b"
    r"|\bNo space left on device"
)
"""Regex of an error of the operating system in the words of Python and of TensorFlow's file systems."""
_OF_A_PEER = lazy_regex(
    r"(?i)\bcollective|unavailable|cancelled|\baborted|deadline|heartbeat|socket|connection|\bpeers?\b|\bgrpc"
)
"""Regex of words of an error that a lost peer causes."""


class LastError(NamedTuple):
    """The message of an error, without time and level, and its record."""

    message: str
    record: Row


def last_error(
    records: Sequence[Row], tail: Sequence[Row], place: Row | None, leaves: Wording
) -> LastError | None:
    """Return the error with which a log ends, if it is one of the job's own program.

    If it only says that the process `leaves`, it is the next one above of the same logger that says more;
    None if that is an error of a lost peer.
    """
    found = _final_error(records, tail, place)
    if found is None:
        return None
    above = [
        LastError(message, row)
        for row in _farewells_upwards(tail, found.record)
        if row["origin"] == found.record["origin"] and (message := _logged(row))
    ]
    telling = (each for each in (found, *above) if not leaves.is_in(each.message))
    chosen = next(telling, found)
    return None if chosen is not found and _OF_A_PEER.search(chosen.message) else chosen


def errors_beside(lifetimes: pl.DataFrame, records: pl.DataFrame) -> pl.DataFrame:
    """Return the errors that a program logged just before or after the last error of each worker.

    They are of the same logger, a few lines and seconds away.
    """
    ends = lifetimes.drop_nulls(["last_error", "line"]).select("worker", "source", "line", "last_error")
    rows = [
        {"worker": worker, **{key: row[key] for key in ("source", "line", "time")}, "message": message}
        for worker, source, line, error in ends.iter_rows()
        for row, message in _near(records.filter(source=source).to_dicts(), line, error)
    ]
    return frame("errors_beside", rows)


def _near(log: Sequence[Row], line: int, error: str) -> Iterator[tuple[Row, str]]:
    """Yield (record, message) of the errors near the one on a line of a log."""
    at = next((number for number, row in enumerate(log) if row["line"] == line), None)
    if at is None or not (_logged(log[at]) or "").startswith(error):
        return
    for row in log[max(0, at - _FAREWELLS) : at + _FAREWELLS + 1]:
        is_close = abs((row["near"] or 0.0) - (log[at]["near"] or 0.0)) <= _FAREWELL_SECONDS
        message = _logged(row)
        if message and is_close and row["line"] != line and row["origin"] == log[at]["origin"]:
            yield row, message


def _final_error(records: Sequence[Row], tail: Sequence[Row], place: Row | None) -> LastError | None:
    """Return the last error of a log, if it is one of the job's own program with which the log ends.

    `records` has the last record, `tail` those above it. The error is the last record, if it is logged as an
    error or names an exception, other than those of a lost peer; or a logged error a few lines and seconds
    further up, below which the program only took its leave. If `place`, the last progress, comes after that
    error, training went on.
    """
    last = last_telling(records)
    if last is None or last["kind"] not in {"python", "plain"}:
        return None
    if (message := _message(last)) or last["origin"] in TENSORFLOW_LOGGERS:
        return LastError(message, last) if message else None
    for row in _farewells_upwards(tail, last):
        message = _logged(row)
        if message:
            trained_on = place is not None and comes_after(place, row)
            return None if trained_on or _OF_A_PEER.search(message) else LastError(message, row)
    return None


def _farewells_upwards(tail: Sequence[Row], last: Row) -> Iterator[Row]:
    """Yield the records above the last one, up to progress, TensorFlow or a traceback."""
    above = [row for row in tail if row["source"] == last["source"] and row["line"] < last["line"]]
    for row in reversed(above[-_FAREWELLS:]):
        if row["kind"] not in {"python", "plain"} or row["origin"] in TENSORFLOW_LOGGERS:
            return
        if (last["near"] or 0.0) - (row["near"] or 0.0) > _FAREWELL_SECONDS:
            return
        yield row


def _message(row: Row) -> str | None:
    if logged := _logged(row):
        return logged
    if row["kind"] == "python" and row["level"] in {"E", "F"}:
        return None
    line = str(row["text"].partition("\n")[0])
    named = _NAMES_EXCEPTION.search(line)
    return line[named.start() :] if named else line if _NAMES_OS_ERROR.search(line) else None


def _logged(row: Row) -> str | None:
    """Return the message of a record that the program logged as an error, or printed with such a level."""
    if row["kind"] == "python" and row["level"] in {"E", "F"}:
        return None if row["origin"] in TENSORFLOW_LOGGERS else _UP_TO_LEVEL.sub("", row["text"])
    printed = _PRINTED_LEVEL.match(row["text"]) if row["kind"] == "plain" else None
    return str(row["text"][printed.end() :].partition("\n")[0]) if printed else None


def ended_by_it(error: LastError | None, closing: Row | None) -> bool:
    """Return True if a closing line that names no training, like `bye`, follows the error."""
    return bool(error and closing and not closing["of_training"] and not comes_after(error.record, closing))
