"""Entries that are no lines: XML of Splunk and mpirun, OpenTelemetry's records, a line a column, syslog."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

from analyzer.ingest.logs.collectors.captured_fields import fields_of, plain_entries
from analyzer.ingest.text_reader import parts
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
OF_MPIRUN = lazy_regex(rb"\s*(?:<mpirun>\s*)?(?:<map>[^\0]{0,4000}?</map>\s*)?<std(?:out|err) rank=\"\d")
"""Start of what Open MPI prints with `--xml`."""
_OF_RANK = re.compile(r"<std(?P<end>out|err) rank=\"(?P<rank>\d{1,6})\">(?P<text>[^<]*)</std(?P=end)>")
OF_COLLECTOR = lazy_regex(rb"(?:[^\n]*\n){0,40}?LogRecord #\d+\r?\n(?:[^\n]*\n){1,6}?Body: ")
"""Start of what the debug exporter of OpenTelemetry's collector prints."""
_RECORD = re.compile(r"LogRecord #\d+$")
_LABELLED = re.compile(r"(?P<name>[A-Z][A-Za-z ]{1,30}): ?(?P<value>.*)$")
_ATTRIBUTE = re.compile(r" +-> (?P<name>[\w.-]+): (?:Str|Int|Empty)\((?P<value>.*)\)$")

OF_SYSLOG = lazy_regex(rb"\d{1,5} <\d{1,3}>1 \d{4}-\d\d-\d\dT")
"""Start of syslog as TCP carries it (RFC 6587): before each message the number of its bytes, no line ends."""
_COUNT = re.compile(rb"\s*(\d{1,5}) (?=<\d{1,3}>1 )")
_MESSAGE = re.compile(
    r"<\d{1,3}>1 (?P<time>\S+) (?P<host>\S+) \S+ \S+ \S+ "
    r"(?:-|(?:\[(?:[^\]\\]|\\.)*\])+)(?: \ufeff?(?P<text>.*))?$",
    re.DOTALL,
)
_ROW = r"(?:-\[ RECORD \d+ \][-+]*|\*{3,} \d+\. row \*{3,})"
OF_COLUMNS = lazy_regex(
    rf"\s*(?:Expanded display is on\.\s+)?{_ROW}\r?\n"
    r"|(?:\s*\n)?(?:[\w.@]+ +: [^\n]*\n|\w+: [^\n]*\n){2,20}\s*\n(?:[\w.@]+ +: |\w+: )".encode()
)
"""Start of rows with a line for each column, as psql, mysql and PowerShell's `Format-List` print them."""
_BETWEEN_ROWS = re.compile(rf"(?:{_ROW})?\s*")
_COLUMN = re.compile(r" *(?P<name>[\w.@ -]{1,60}?) *(?:\||:) ?(?P<value>.*)$")


def _entry(message: str, time: str, writer: str | None) -> Entry:
    return {"message": message, "timestamp": time, "logStreamName": writer}


def messages_of_syslog(text: str) -> Iterator[tuple[int, Entry]]:
    """Yield the fields of each message that stands behind the number of its bytes; all are of line 1."""
    data, at = text.encode("utf-8", "replace"), 0
    while count := _COUNT.match(data, at):
        at = count.end() + int(count[1])
        message = data[count.end() : at].decode("utf-8", "replace")
        if found := _MESSAGE.match(message):
            host = None if found["host"] == "-" else found["host"]
            yield 1, _entry((found["text"] or "").rstrip("\n"), found["time"], host)


def results_of_splunk(text: str) -> Iterator[tuple[int, Entry]]:
    """Yield the line, from 1, and the fields of each result."""
    for line, result in parts(text, _RESULT):
        fields = {each["name"]: each["value"] or each["raw"] or "" for each in _FIELD.finditer(result)}
        if "_raw" in fields:
            told = {name: unescape(_MARK.sub("", value)) for name, value in fields.items()}
            yield line, _entry(told["_raw"], told.get("_time", ""), told.get("host") or None)


def lines_of_ranks(text: str) -> Iterator[tuple[int, Entry]]:
    """Yield the line, from 1, and the text of each element that holds what a rank printed."""
    line, counted = 1, 0
    for element in _OF_RANK.finditer(text):
        line, counted = line + text.count("\n", counted, element.start()), element.start()
        printed = unescape(element["text"]).removesuffix("\n")
        yield line, {"message": printed, "logStreamName": element["rank"]}


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


def rows_of_columns(text: str) -> Iterator[tuple[int, Entry]]:
    """Yield the line, from 1, and the columns of each row; nothing if no column holds lines of TensorFlow.

    Lines below the first one of a column belong to it.
    """
    numbers, rows = list[int](), list[Entry]()
    is_between, last = True, ""
    for number, line in enumerate(text.splitlines(), 1):
        column = _COLUMN.match(line)
        name = column["name"] if column else ""
        if column and is_between and (not rows or name == next(iter(rows[0]))):
            numbers.append(number)
            rows.append({})
        if column and rows and name not in rows[-1] and (len(rows) == 1 or name in rows[0]):
            last = name
            rows[-1][last] = column["value"]
        elif last and not _BETWEEN_ROWS.fullmatch(line):
            rows[-1][last] += f"\n{line}"
        is_between = _BETWEEN_ROWS.fullmatch(line) is not None
    if fields_of(rows):
        yield from zip(numbers, map(dict, plain_entries(rows)), strict=True)
