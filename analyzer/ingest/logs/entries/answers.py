"""Entries in a parsed answer of a log service: its list of them, or streams, rows and hits that have them."""

from collections.abc import Iterable, Iterator
from typing import Any, TypeGuard

from analyzer.ingest.logs.collectors.captured_fields import plain_entries
from analyzer.ingest.logs.collectors.structured import unwrapped
from analyzer.ingest.logs.entries.columns import entries_of_answer

Entry = dict[str, Any]
_LIST_KEYS = ("events", "entries", "data")


def entries_in(whole: object) -> list[Entry]:
    """Return the entries in a value of JSON or YAML, in its order; none if it has no list of them."""
    if not isinstance(whole, dict):
        return _of_list(whole)
    if isinstance(whole.get("data"), dict):
        return [*_of_loki(whole["data"].get("result"))]
    if isinstance(whole.get("hits"), dict):
        return _of_list(whole["hits"].get("hits"))
    if isinstance(whole.get("results"), list) and (rows := [*_of_insights(whole["results"])]):
        return rows
    if rows := [*entries_of_answer(whole)]:
        return rows
    known = next(filter(None, (_of_list(whole.get(key)) for key in _LIST_KEYS)), [])
    longest = max(filter(_has_objects, whole.values()), key=len, default=None)
    return known or [*_of_loki(longest)] or _of_list(longest)


def _has_objects(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list) and any(isinstance(each, dict) for each in value)


def _of_list(found: object) -> list[Entry]:
    known = (
        [unwrapped(entry) for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []
    )
    return [dict(entry) for entry in plain_entries(known)]


def entries_of_batches(batches: Iterable[Entry]) -> list[Entry]:
    """Return the entries in the lists of objects such as CloudWatch sends, with the texts beside each list.

    There are none if an object has no such list.
    """
    found: list[Entry] = []
    for batch in batches:
        events = max(filter(_has_objects, batch.values()), key=len, default=None)
        if events is None:
            return []
        around = {name: value for name, value in batch.items() if isinstance(value, str)}
        found += [around | event for event in events if isinstance(event, dict)]
    return _of_list(found)


def _of_loki(streams: object) -> Iterator[Entry]:
    """Yield an entry for each pair of nanoseconds since 1970 and line."""
    for stream in streams if isinstance(streams, list) else ():
        is_stream = isinstance(stream, dict) and isinstance(stream.get("stream"), dict)
        labels, values = (stream["stream"], stream.get("values")) if is_stream else ({}, ())
        for pair in values if isinstance(values, list) else ():
            if isinstance(pair, list) and len(pair) > 1 and str(pair[0]).isdigit():
                yield {"timestamp": int(pair[0]) // 1000, "line": str(pair[1]), "labels": labels}


def _of_insights(rows: Iterable[object]) -> Iterator[Entry]:
    """Yield an entry for each row of a query of CloudWatch Logs Insights."""
    for row in rows:
        pairs = [pair for pair in row if isinstance(pair, dict)] if isinstance(row, list) else []
        fields = {str(pair.get("field")): pair.get("value") for pair in pairs}
        if "@message" in fields:
            yield fields | {"logStreamName": fields.get("@logStream")}
