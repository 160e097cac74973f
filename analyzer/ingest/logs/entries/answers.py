"""Entries in parsed JSON or YAML: wherever in it the list stands whose objects are entries of a log."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from analyzer.ingest.logs.collectors.captured_fields import flat, plain_entries
from analyzer.ingest.logs.collectors.structured import is_log_entry, unwrapped
from analyzer.ingest.logs.entries.columns import entries_of_answer
from analyzer.ingest.logs.prefixes.own_beginnings import begins_own_line

Entry = dict[str, Any]
Path = tuple[str, ...]
"""Names of the fields that lead to a list, without the places in the lists around it."""
_MAX_DEPTH = 8
_CHECKED = 400
_NAMES = ("key", "field", "name")


def entries_in(whole: object) -> list[Entry]:
    """Return the entries in a value of JSON or YAML, in its order; none if it has no list of them."""
    if isinstance(whole, dict) and (rows := [*_of_streams(whole), *entries_of_answer(whole)]):
        return rows
    return _of_lists(_lists_in(whole))


def entries_of_batches(batches: Sequence[Entry]) -> list[Entry]:
    """Return the entries in lists in objects, as CloudWatch sends them; none if the objects are entries."""
    if rows := [row for batch in batches for row in _of_streams(batch)]:
        return rows
    lists = _lists_in(batches)
    is_log = any(is_log_entry(unwrapped(each)) for each in lists.pop((), ()))
    return [] if is_log else _of_lists(lists)


def _of_lists(lists: Mapping[Path, Sequence[Entry]]) -> list[Entry]:
    """Return the entries of the list with the most of a log; of equal ones, the longest."""
    found = max(lists.values(), key=lambda each: (_of_logs(each), len(each)), default=())
    return [dict(entry) for entry in plain_entries([unwrapped(entry) for entry in found])]


def _of_logs(entries: Sequence[Entry]) -> int:
    """Return how many of the first objects are entries of a log, or hold a line that TensorFlow began."""
    return sum(
        is_log_entry(entry) or any(map(_is_own_line, flat(entry).values()))
        for entry in map(unwrapped, islice(entries, _CHECKED))
    )


def _is_own_line(value: object) -> bool:
    return isinstance(value, str) and begins_own_line(value)


def _lists_in(whole: object) -> dict[Path, list[Entry]]:
    """Return the objects of all lists in a value, with the fields of the objects around each."""
    found: defaultdict[Path, list[Entry]] = defaultdict(list)
    _add_lists(_named(whole, _MAX_DEPTH), (), {}, found)
    return found


def _add_lists(value: object, path: Path, around: Entry, found: dict[Path, list[Entry]]) -> None:
    """Add the objects of the lists in a value; `around` has the fields of the object that it is in.

    The fields of an object that is in no list are left out: they are equal for all entries.
    """
    if isinstance(value, list):
        for row in value:
            if isinstance(row, dict):
                found[path].append(around | row if around else row)
                if _holds_objects(row):
                    _add_lists(row, path, around | _without_lists(row), found)
    elif isinstance(value, dict) and len(path) < _MAX_DEPTH:
        for name, part in value.items():
            if isinstance(part, list | dict):
                _add_lists(part, (*path, name), around, found)


def _holds_objects(value: object, depth: int = _MAX_DEPTH) -> bool:
    """Return True if a list with objects is somewhere in a value."""
    if isinstance(value, list) and any(isinstance(each, dict) for each in value):
        return True
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return depth > 0 and any(
        _holds_objects(part, depth - 1) for part in parts if isinstance(part, list | dict)
    )


def _without_lists(row: Entry, depth: int = _MAX_DEPTH) -> Entry:
    """Return an object without its lists: they hold other entries, and are no fields of an entry."""
    return {
        name: _without_lists(part, depth - 1) if isinstance(part, dict) else part
        for name, part in row.items()
        if not isinstance(part, list) and (depth or not isinstance(part, dict))
    }


def _named(value: object, depth: int) -> object:
    """Return the value with name → value for lists of pairs in it, as `[{"key": "pod", "value": "w-0"}]`."""
    if not (depth and _holds_objects(value, depth)):
        return value
    if isinstance(value, dict):
        return {name: _named(part, depth - 1) for name, part in value.items()}
    if not isinstance(value, list):
        return value
    names = (
        key for key in _NAMES if all(isinstance(each, dict) and {*each} == {key, "value"} for each in value)
    )
    if name := next(names, None):
        return {str(each[name]): _named(each["value"], depth - 1) for each in value}
    return [_named(each, depth - 1) for each in value]


def _of_streams(whole: Mapping[str, Any]) -> Iterator[Entry]:
    """Yield an entry for each line that Loki answers, in `result`, or takes, in `streams`."""
    answer = data if isinstance(data := whole.get("data"), dict) else whole
    yield from _of_loki(answer.get("result", answer.get("streams")))


def _of_loki(streams: object) -> Iterator[Entry]:
    """Yield an entry for each pair of nanoseconds since 1970 and line."""
    for stream in streams if isinstance(streams, list) else ():
        is_stream = isinstance(stream, dict) and isinstance(stream.get("stream"), dict)
        labels, values = (stream["stream"], stream.get("values")) if is_stream else ({}, ())
        for pair in values if isinstance(values, list) else ():
            if isinstance(pair, list) and len(pair) > 1 and str(pair[0]).isdigit():
                yield {"timestamp": int(pair[0]) // 1000, "line": str(pair[1]), "labels": labels}
