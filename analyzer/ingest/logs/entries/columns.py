"""Tables of log lines: which columns have the message, the time and the writer; tables in JSON.

Azure's and Elasticsearch's query interfaces answer with the names of the columns and a list of values a row.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from analyzer.ingest.logs.collectors.captured_fields import fields_of

CHECKED = 400
"""Rows of a table that show which columns hold what."""
_COLUMNS = {
    "message": ("@message", "message", "_raw", "textpayload", "logmessage", "logentry", "line", "log", "msg",
        "content"),
    "timestamp": ("@timestamp", "timestamp", "_time", "time", "date", "timegenerated", "timegenerated [utc]",
        "_messagetime"),
    "logStreamName": (
        "@logstream", "logstreamname", "kubernetes.pod.name", "pod_name", "podname", "pod", "task_name",
        "task", "worker", "rank", "replica", "instance", "node", "host.name", "host", "hostname",
        "_sourcehost", "computer",
    ),
}  # fmt: skip
"""Field of an entry → the columns, in lower case, that may hold it; the first one present does."""
_NAMES, _ROWS = ("columns", "Columns", "schema", "meta"), ("rows", "Rows", "datarows", "values", "data")


def columns_of(header: Sequence[str]) -> Mapping[str, int] | None:
    """Return field of an entry → index of its column; None unless there are a message and a time.

    A path before a column's name is ignored: `resource.labels.pod_name` counts as `pod_name`.
    """
    names = [name.strip().lower() for name in header]
    last = [name.rpartition(".")[2] for name in names]
    found: dict[str, int] = {}
    for field, known in _COLUMNS.items():
        at = next((each.index(name) for name in known for each in (names, last) if name in each), None)
        found |= {} if at is None else {field: at}
    return found if {"message", "timestamp"} <= {*found} else None


def entries_of_answer(whole: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    """Yield an entry for each row of the tables in an answer; none for a table without message or time."""
    tables = next((whole[key] for key in ("tables", "Tables") if isinstance(whole.get(key), list)), [whole])
    for table in tables:
        if not isinstance(table, dict):
            continue
        header = [_name(each) for each in _list(table, _NAMES)]
        rows = [row for row in _list(table, _ROWS) if isinstance(row, list) and len(row) == len(header)]
        used = used_columns(header, rows[:CHECKED]) if rows else {}
        yield from ({field: row[at] for field, at in used.items()} for row in rows if used)


def used_columns(header: Sequence[str], rows: Sequence[Sequence[object]]) -> Mapping[str, int]:
    """Return field of an entry → index of its column; columns that the header does not tell are learned."""
    known = columns_of(header) or {}
    if "logStreamName" in known:
        return known
    names = [str(at) for at in range(len(header))]
    learned = fields_of([dict(zip(names, row, strict=False)) for row in rows])
    if learned is None or not (known or learned.time):
        return known
    found = {"message": learned.message, "timestamp": learned.time, "logStreamName": learned.writer}
    return {field: int(at) for field, at in found.items() if at} | dict(known)


def _list(table: Mapping[str, Any], keys: Sequence[str]) -> list[Any]:
    return next((table[key] for key in keys if isinstance(table.get(key), list)), [])


def _name(column: object) -> str:
    named = column if isinstance(column, dict) else {"name": column}
    return str(named.get("name", named.get("ColumnName", "")))
