"""Learns which fields of entries hold what a program printed, when, and which program it was.

A program cannot put the lines of TensorFlow's C++ logger, or of a traceback, into a field: a collector did,
and it also filled the fields beside them.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from analyzer.ingest.logs.collectors import structured
from analyzer.ingest.logs.collectors.learned.words import rank_of_key
from analyzer.ingest.logs.collectors.line_styles import CollectedLine, Style
from analyzer.ingest.logs.collectors.timestamps import entry_time, iso_timestamp
from analyzer.ingest.logs.prefixes.heads import head
from analyzer.ingest.logs.prefixes.own_beginnings import begins_own_line
from analyzer.ingest.logs.progress.layouts import is_progress
from analyzer.ingest.logs.text import storable
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import worker_of

Entry = Mapping[str, Any]
_MIN_LINES = 3
"""Entries with a line of TensorFlow or of a traceback that show which fields a collector filled; of four, two
suffice."""
_MIN_SHARE = 0.9
"""Share of the entries that must have the field of the lines, or a time in the field of the time."""
_CHECKED = 400
_MAX_DEPTH, _MAX_FIELDS = 4, 200
_OF_RANKS = re.compile(
    r"(?i)(?:^|[._])(?:(?:global_?)?rank|(?:task|worker|replica|process)(?:_?(?:id|index|rank))?|task\.index|pod(?:_?name)?)$"
)
"""Regex for a field with the number or the name of a task."""
_OF_TASKS = re.compile(r"(?i)(?:rank|task|worker|replica|node|shard|process|pid)(?:_?(?:id|index|number))?$")


class Fields(NamedTuple):
    """Where an entry has its line, its time and its writer, as `fields.pod`; empty if nowhere."""

    message: str
    time: str = ""
    writer: str = ""


def flat(entry: Entry) -> dict[str, Any]:
    """Return path → value of the fields of an entry; a list with one value counts as that value."""
    return dict(islice(_flat(entry, "", _MAX_DEPTH), _MAX_FIELDS))


def _flat(value: object, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict) and depth:
        for name, part in value.items():
            yield from _flat(part, f"{path}.{name}" if path else str(name), depth - 1)
    elif isinstance(value, str | int | float):
        yield path, value


def fields_of(entries: Sequence[Entry]) -> Fields | None:
    """Return the fields of entries, judged by the first ones; None if no field holds lines of TensorFlow."""
    rows = [flat(entry) for entry in entries[:_CHECKED]]
    begun = Counter(
        path
        for row in rows
        for path, value in row.items()
        if isinstance(value, str) and begins_own_line(value)
    )
    message, count = max(begun.items(), key=lambda item: (item[1], -len(item[0])), default=("", 0))
    having = [row for row in rows if isinstance(row.get(message), str)]
    if count < max(2, min(_MIN_LINES, len(rows) // 2)) or len(having) < _MIN_SHARE * len(rows):
        return None
    captured = [row for row in having if begins_own_line(row[message])]
    return Fields(message, _time_of(having, message), _writer_of(captured, message))


def _time_of(rows: Sequence[Entry], message: str) -> str:
    """Return the field with a time in nearly all rows; one that is called so comes first."""
    paths = [path for path in rows[0] if path != message]
    paths.sort(key=lambda path: path.rpartition(".")[2].strip("@_").lower() not in structured.TIME_KEYS)
    least = _MIN_SHARE * len(rows)
    return next((path for path in paths if sum(_time(row, path) is not None for row in rows) >= least), "")


def _time(row: Entry, path: str) -> float | None:
    return entry_time({"time": row.get(path)})


def _writer_of(rows: Sequence[Entry], message: str) -> str:
    """Return the field whose values tell the writers of TensorFlow's lines apart; a task's name comes first.

    A number counts only in a field that is called after tasks; others have the line's length or its place.
    """
    ranked = {}
    for path in set.intersection(*({*row} for row in rows)) - {message}:
        values = [str(row[path]) for row in rows]
        rank = rank_of_key(values)
        if rank is None or _time(rows[0], path) is not None:
            continue
        names_tasks, is_name, _ = rank
        if names_tasks or _OF_TASKS.search(path) or (is_name and _all_inform(values, rows, message)):
            ranked[path] = (rank, -len(path), path)
    return max(ranked, key=lambda path: ranked[path], default="")


def _all_inform(values: Sequence[str], rows: Sequence[Entry], message: str) -> bool:
    """Return True if each value stands beside a line of information; a level such as `ERROR` does not."""
    informed = {
        value
        for value, row in zip(values, rows, strict=True)
        if (found := head(row[message])) and found.level == "I"
    }
    return {value for value, count in Counter(values).items() if count >= _MIN_LINES} <= informed


def _unknown_fields(entries: Sequence[Entry]) -> Fields | None:
    """Return the fields of entries whose line stands in a field of no known name; None for any other."""
    fields = fields_of(entries)
    sample = entries[:_CHECKED] if fields else ()
    lines = ((entry, flat(entry).get(fields.message) if fields else None) for entry in sample)
    known = sum(structured.message(entry) == str(line).rstrip("\n") for entry, line in lines)
    return None if 2 * known > len(sample) else fields


def plain_entries(entries: Sequence[Entry]) -> Sequence[Entry]:
    """Return entries with the names of fields that Cloud services use, where the line has no known one."""
    fields = _unknown_fields(entries)
    return [_plain(entry, fields) for entry in entries] if fields else entries


def _plain(entry: Entry, fields: Fields) -> dict[str, Any]:
    row = flat(entry)
    named = {"message": fields.message, "timestamp": fields.time, "logStreamName": fields.writer}
    return {name: row[path] for name, path in named.items() if path in row}


def style_of_fields(lines: Sequence[str]) -> Style | None:
    """Return a parser of JSON entries whose line stands in a field of no known name; None for other lines."""
    entries = [entry for line in lines if (entry := structured.parse(line)) is not None]
    fields = _unknown_fields(entries) if entries and len(entries) >= _MIN_SHARE * len(lines) else None
    if fields is None:
        return None

    def read(line: str) -> CollectedLine | None:
        entry = structured.parse(line)
        row = {} if entry is None else _plain(entry, fields)
        if not isinstance(text := row.get("message"), str):
            return None
        key = row.get("logStreamName")
        writer = None if key is None else storable(str(key))
        return CollectedLine(writer, storable(text.rstrip("\n")), timestamp=iso_timestamp(row))

    return read


def _are_tasks(names: Collection[str]) -> bool:
    return all(worker_of(name, Kind.OTHER) for name in names)


def _field_of_ranks(entries: Sequence[Entry]) -> str:
    """Return the field, of a program's own, that counts the tasks which wrote entries; empty if none does.

    Nearly all entries have it, its values are the numbers or names of tasks, and two tasks log progress: in
    what a leader logs of its workers, and in what a loader logs of its processes, nobody else trains.
    """
    rows = [flat(entry) for entry in entries]
    for path in dict.fromkeys(path for row in rows for path in row if _OF_RANKS.search(path)):
        having = [(str(row[path]), entry) for row, entry in zip(rows, entries, strict=True) if path in row]
        names = {name for name, _ in having}
        counted = {str(number) for number in range(len(names))}
        train = {name for name, entry in having if is_progress(structured.render(entry))}
        if (
            len(having) >= _MIN_SHARE * len(rows)
            and len(train) > 1
            and (names == counted or _are_tasks(names))
        ):
            return path
    return ""


def with_learned_writer(style: Style, sample: Sequence[str]) -> Style:
    """Return a style of JSON entries that also names their writer, if only a field of another name does.

    A field with the names of tasks is better than one with other names, such as that of the host.
    """
    keys = {found.key for line in sample if (found := style(line)) and found.key}
    entries = [entry for line in sample if (entry := structured.parse(line)) is not None]
    fields = None if keys and _are_tasks(keys) else fields_of(entries)
    if not keys and (fields is None or not fields.writer):
        fields = Fields("", writer=_field_of_ranks(entries[:_CHECKED]))
    if fields is None or not fields.writer:
        return style
    if keys and not _are_tasks({str(flat(entry).get(fields.writer, "")) for entry in entries}):
        return style

    def read(line: str) -> CollectedLine | None:
        found, entry = style(line), structured.parse(line)
        key = flat(entry).get(fields.writer) if entry else None
        return found._replace(key=storable(str(key))) if found and key is not None else found

    return read
