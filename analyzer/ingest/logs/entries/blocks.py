"""Entries of several lines each: results of Splunk in XML, records of OpenTelemetry's collector, rows of SQL."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

from analyzer.ingest.logs.collectors.captured_fields import plain_entries
from analyzer.model.lazy_regex import lazy_regex

Entry = dict[str, Any]
SPLUNK = lazy_regex(rb"(?:<\?xml[^>]*\?>\s*)?<results preview=")
"""Start of what Splunk exports as XML."""
_RESULT = re.compile(r"<result offset='\d+'>")
_FIELD = re.compile(
    r"<field k='(?P<name>[^']{1,200})'>\s*"
    r"(?:<value>\s*<text>(?P<value>[^<]*)</text>|<v\b[^<>]*>(?P<raw>(?:[^<]++|</?sg\b[^<>]{0,200}>)*+)</v>)"
)
_MARK = re.compile(r"</?sg\b[^>]*>")
"""Regex for the marks of searched words."""
OF_COLLECTOR = lazy_regex(rb"(?:[^\n]*\n){0,40}?LogRecord #\d+\r?\n(?:[^\n]*\n){1,6}?Body: ")
"""Start of what the debug exporter of OpenTelemetry's collector prints."""
_RECORD = re.compile(r"LogRecord #\d+$")
_LABELLED = re.compile(r"(?P<name>[A-Z][A-Za-z ]{1,30}): ?(?P<value>.*)$")
_ATTRIBUTE = re.compile(r" +-> (?P<name>[\w.-]+): (?:Str|Int|Empty)\((?P<value>.*)\)$")

_ROW = r"(?:-\[ RECORD \d+ \][-+]*|\*{3,} \d+\. row \*{3,})\s*"
OF_SQL = lazy_regex(rf"\s*(?:Expanded display is on\.\s+)?{_ROW}\n".encode())
"""Start of rows that psql (`\\x`) and mysql (`\\G`) print with a line for each column."""
_BEGINS_ROW = re.compile(_ROW)
_COLUMN = re.compile(r" *(?P<name>[\w.@ -]{1,60}?) *(?:\||:) ?(?P<value>.*)$")


def results_of_splunk(text: str) -> Iterator[tuple[int, Entry]]:
    """Yield the line, from 1, and the fields of each result."""
    begins = [match.start() for match in _RESULT.finditer(text)]
    line, counted = 1, 0
    for begin, end in zip(begins, [*begins[1:], len(text)], strict=True):
        line, counted = line + text.count("\n", counted, begin), begin
        fields = {
            each["name"]: each["value"] or each["raw"] or "" for each in _FIELD.finditer(text, begin, end)
        }
        if "_raw" in fields:
            told = {name: unescape(_MARK.sub("", value)) for name, value in fields.items()}
            yield (
                line,
                {
                    "message": told["_raw"],
                    "timestamp": told.get("_time", ""),
                    "logStreamName": told.get("host") or None,
                },
            )


def records_of_collector(text: str) -> Iterator[tuple[int, Entry]]:
    """Yield the line, from 1, and the fields of each record; those of its resource stand above it."""
    resource: dict[str, str] = {}
    record: dict[str, str] | None = None
    begun, is_body = 0, False
    for number, line in enumerate(text.split("\n"), 1):
        if line.endswith("Resource attributes:") or "ResourceLog #" in line or _RECORD.search(line):
            yield from _told(begun, record, resource)
            resource = resource if _RECORD.search(line) else {}
            record, begun, is_body = ({} if _RECORD.search(line) else None), number, False
        elif attribute := _ATTRIBUTE.match(line):
            (resource if record is None else record)[attribute["name"]] = attribute["value"]
        elif (
            record is not None and (labelled := _LABELLED.match(line)) and not (is_body and "Body" in record)
        ):
            record[labelled["name"]] = labelled["value"]
            is_body = labelled["name"] == "Body" and not line.endswith(")")
        elif record is not None and is_body:
            record["Body"] += f"\n{line}"
            is_body = not line.endswith(")")
    yield from _told(begun, record, resource)


def _told(begun: int, record: dict[str, str] | None, resource: dict[str, str]) -> Iterator[tuple[int, Entry]]:
    """Yield an entry for a record with a text as its body."""
    body = (record or {}).get("Body", "")
    if record is None or not (body.startswith("Str(") and body.endswith(")")):
        return
    time = re.sub(r" \+0000 UTC$", "Z", record.get("Timestamp", ""))
    labels = {
        name.removeprefix("k8s.").replace(".", "_"): value for name, value in {**resource, **record}.items()
    }
    yield begun, {"message": body[4:-1], "timestamp": time, "labels": labels}


def rows_of_sql(text: str) -> Iterator[tuple[int, Entry]]:
    """Yield the line, from 1, and the columns of each row; lines below a column's first one belong to it."""
    numbers, rows = list[int](), list[Entry]()
    last = ""
    for number, line in enumerate(text.split("\n"), 1):
        if _BEGINS_ROW.fullmatch(line):
            numbers.append(number)
            rows.append({})
            last = ""
        elif rows and (column := _COLUMN.match(line)) and _is_next(column["name"], rows):
            last = column["name"]
            rows[-1][last] = column["value"]
        elif last and not line.startswith("("):
            rows[-1][last] += f"\n{line}"
    yield from zip(numbers, map(dict, plain_entries(rows)), strict=True)


def _is_next(name: str, rows: list[Entry]) -> bool:
    """Return True if a name is that of a column which the last row still lacks; the first row shows all."""
    return name not in rows[-1] and (len(rows) == 1 or name in rows[0])
