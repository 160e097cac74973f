"""Exports of log services: one JSON array, one entry per line, or CSV, often newest first.

`gcloud logging read --format=json` and `aws logs filter-log-events` write JSON, the consoles of CloudWatch,
Splunk and Azure also CSV. The entries are rewritten one per line, oldest first, and read as a log; line
numbers then count entries, and `Export.numbers` has the line of the file where each begins.
"""

import json
import re
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from analyzer.ingest.logs import log_reader
from analyzer.ingest.logs.collectors import structured
from analyzer.ingest.logs.collectors.captured_fields import plain_entries
from analyzer.ingest.logs.collectors.structured import is_log_entry, unwrapped
from analyzer.ingest.logs.documents import NoLogsError, logs_in
from analyzer.ingest.logs.entries import blocks, docker_local, order, packed
from analyzer.ingest.logs.entries.answers import entries_in, entries_of_batches
from analyzer.ingest.logs.entries.columns import columns_of
from analyzer.ingest.logs.entries.csv_rows import SEPARATORS, rows_of_csv
from analyzer.ingest.logs.entries.journal import FIRST_FIELD, VERBOSE, journal_entries, verbose_entries
from analyzer.ingest.logs.entries.json_lines import lines_of_elements, objects_in_turn
from analyzer.ingest.logs.newest_first import is_newest_first
from analyzer.ingest.matcher import Matcher
from analyzer.ingest.reader_output import SourceRows, is_too_dense
from analyzer.ingest.scan.fork_pool import ScanLog
from analyzer.model.budget import Budget
from analyzer.model.lazy_regex import lazy_regex
from analyzer.model.run import Source
from analyzer.storage.decompress import is_compressed, narrowed, opening_of, read_whole

MAX_BYTES = 32 << 20
"""Size limit for what must be held in memory: a JSON array, or entries to be reversed."""

MAX_YAML_BYTES = 4 << 20
"""YAML is read about 50 times slower than JSON; larger files are read as lines."""
MAX_YAML_EVENTS = 200_000
"""Limit on keys, values and brackets of a YAML file, each of which takes a kilobyte while it is parsed."""

_OPENING_BYTES = 4_000
_ENTRY = lazy_regex(rb'"(?:log|(?:short_)?message|textPayload|jsonPayload|msg|_raw)"\s*:|"line"\s*:\s*"')
_CHECKED = 400
_YAML = lazy_regex(rb"(?:---[ \t]*\r?\n)?(?:insertId|jsonPayload|labels|logName|textPayload): *[^{\s]?")
"""Start of the default output of `gcloud logging read`: YAML, one document per entry."""
_YAML_LIST = lazy_regex(rb"(?:---[ \t]*\r?\n)?(?:\w+:[ \t]*\r?\n)?[ \t]*- [\w.@-]+: ")
"""Start of a list of mappings in YAML, as `aws logs get-log-events --output yaml` prints it."""
_BULK = lazy_regex(rb'\{"(?:index|create)":\s?\{[^\n]{0,400}\}\}\r?\n\{')
"""Start of what Elasticsearch's bulk interface takes: a line that says what to do, before each entry."""
_ENDED_BY_NUL = lazy_regex(rb"\s*\{[^\0\n]{1,3900}\}\0(?!\0)")
"""Start of JSON objects with a NUL behind each, as GELF has them on TCP; a file not closed ends in many."""
_MAX_ENDED_BY_NUL = 500_000
"""Objects with a NUL behind each that are told apart; such a file has no lines."""
_BLOCKS = (
    (blocks.SPLUNK, blocks.results_of_splunk),
    (blocks.OF_MPIRUN, blocks.lines_of_ranks),
    (blocks.OF_COLLECTOR, blocks.records_of_collector),
    (blocks.OF_COLUMNS, blocks.rows_of_columns),
    (blocks.OF_SYSLOG, blocks.messages_of_syslog),
)
"""Regex for the first bytes of entries of several lines each, and the function that reads them."""
_OF_RUBY = re.compile(r'(?m)^(\s*"[^"\n]{1,200}") => (\d{4}-\d\d-\d\dT[\d:.]+Z?)?')
"""Regex for a field as Logstash's `rubydebug` prints it; times have no quotation marks."""
_BROKEN_OVER_LINES = lazy_regex(rb'\x1e\s*\{|\s*\{\s*\n\s*"[^\n]*\n')
"""Start of JSON objects each of which takes several lines, or begins with a record separator."""
_TIMED = lazy_regex(rb'"(?:@?timestamp|_?time|ts|date|datetime|asctime|created)"\s*:')
"""The time of an entry; a list of whole logs has none."""
_MAY_BE_EXPORT = lazy_regex(
    rb"[\s\x1e]*[\[{<]|\0[\0-\xff]{3}\x0a\x06std|__CURSOR="
    rb"|(?:---[ \t]*\r?\n)?\s*\w[\w./@-]* *:|[A-Z][a-z]{2} \d{4}-"
)
"""Start of any format but CSV; another compressed file is not decompressed to see what it is."""
Entry = dict[str, Any]


class Export(NamedTuple):
    """The entries of an export, one per line, oldest first; `lines` is None if the file is read as it is."""

    lines: Sequence[str] | None = None
    damage: str = ""
    """What is wrong with the file, so that it is read line by line or not whole; empty if nothing is."""
    skip: str = ""
    """Why the export cannot be read; empty if it can."""
    numbers: Sequence[int] = ()
    """The line of the file, from 1, where each entry begins; empty if unknown, or shared by entries."""


def read(source: Source, matcher: Matcher, scan: ScanLog | None = None) -> list[SourceRows]:
    """Return the rows of one log or log export, one item per worker.

    Raises:
        OSError: the file cannot be read or decompressed.
    """
    export = entries_of(source.path)
    if export.skip:
        output = SourceRows(source)
        output.skip(export.skip)
        return [output]
    if export.lines is None:
        outputs = log_reader.read(source, matcher, scan)
    else:
        outputs = _read_reordered(source, matcher, export.lines)
    if export.damage:
        outputs[0].add_damage(export.damage)
    return outputs


def entries_of(path: Path) -> Export:
    """Return the entries of a file, which may be compressed.

    Raises:
        OSError: the file cannot be read or decompressed.
    """
    with path.open("rb", buffering=0) as file:
        opening = file.read(_OPENING_BYTES)
    if is_compressed(opening) or narrowed(opening) is not opening:
        return _of_copy(path)
    if found := _of_entries(path, opening):
        return found
    if opening.lstrip()[:1] in {b"[", b"{"}:
        return _of_json(path, opening)
    found = _of_document(path, opening)
    return found or (_reversed(path) if is_newest_first(path, opening) else Export())


def _of_json(path: Path, opening: bytes) -> Export:
    """Return the entries of a file that begins like JSON: an object a line, batches of them, or one value."""
    has_entries = _ENTRY.search(opening) is not None
    if not (has_entries and _TIMED.search(opening)) and (found := _of_document(path, opening)):
        return found
    if packed.OPENING.search(opening) and (found := _of_packed(path)):
        return found
    if _is_object_a_line(path):
        is_reversed = not has_entries and is_newest_first(path, opening)
        return _reversed(path) if is_reversed else _lines_in_order(path) if has_entries else Export()
    if path.stat().st_size > MAX_BYTES:
        what = f"one JSON array of more than {MAX_BYTES} bytes; export one entry per line"
        return Export(skip=what) if has_entries else Export()
    entries, numbers = _entries(path)
    if entries is None:
        return Export(damage="a broken JSON array, read as lines") if has_entries else Export()
    is_log = 2 * sum(map(is_log_entry, entries[:_CHECKED])) > len(entries[:_CHECKED])
    return _oldest_first(entries, numbers) if is_log else Export()


def _of_packed(path: Path) -> Export | None:
    """Return the entries of a file whose objects each hold a packed one; None of any other file."""
    if path.stat().st_size > MAX_BYTES:
        return None
    found = packed.unpacked(path.read_text("utf-8", "replace"))
    if batches := entries_of_batches([each for _, each in found]):
        return _oldest_first(batches)
    entries = plain_entries([unwrapped(each) for _, each in found])
    is_log = 2 * sum(map(is_log_entry, entries[:_CHECKED])) > len(entries[:_CHECKED])
    numbered = [(line, dict(each)) for (line, _), each in zip(found, entries, strict=True)]
    return _of_numbered(numbered) if is_log else None


def _is_object_a_line(path: Path) -> bool:
    """Return True if the first line is one object of several, which is no batch of entries."""
    with path.open("rb") as file:
        first, more = file.readline(MAX_BYTES).strip(), file.read(1)
    if not (more and first[:1] == b"{" and first[-1:] == b"}"):
        return False
    entry = structured.parse(first.decode("utf-8", "replace"))
    return entry is None or not entries_of_batches([dict(entry)])


def _of_entries(path: Path, opening: bytes) -> Export | None:
    """Return the entries of formats that their first bytes tell and that are no JSON array; else None."""
    is_small = path.stat().st_size <= MAX_BYTES
    is_yaml = _YAML.match(opening) or _YAML_LIST.match(opening)
    if is_yaml and path.stat().st_size <= MAX_YAML_BYTES and (found := _documents(path)):
        return _oldest_first(found)
    has_separator = any(each in opening.partition(b"\n")[0] for each in SEPARATORS)
    if has_separator and (rows := rows_of_csv(path, MAX_BYTES)):
        return _of_numbered(rows)
    if opening.startswith(FIRST_FIELD) and is_small:
        return _oldest_first([*journal_entries(path.read_bytes())])
    if (VERBOSE.match(opening) or _BROKEN_OVER_LINES.match(opening)) and (turns := _entries_in_turn(path)):
        return _of_numbered(turns)
    if _BULK.match(opening) and is_small:
        return _of_lines(_lines_of(path)[1::2])
    if docker_local.OPENING.match(opening) and is_small:
        return Export(*docker_local.lines_of(path.read_bytes()))
    if _ENDED_BY_NUL.match(opening) and is_small:
        entries = path.read_text("utf-8", "replace").split("\0", _MAX_ENDED_BY_NUL)
        return Export([text for text in entries if text.strip()])
    reader = next((read for regex, read in _BLOCKS if regex.match(opening)), None) if is_small else None
    told = [*reader(path.read_text("utf-8", "replace"))] if reader else []
    return _of_numbered(told) if told else None


def _of_copy(path: Path) -> Export:
    """Return the entries of a file that is compressed or UTF-16; none if it is damaged, or like no export."""
    from analyzer.storage.scratch import ScratchDirectory

    opening = opening_of(path, _OPENING_BYTES)
    if not (_MAY_BE_EXPORT.match(opening) or columns_of(re.split(r"[,;\t]", _first_line(opening)))):
        return Export()
    data, damage = read_whole(path, Budget())
    if damage:
        return Export()
    with ScratchDirectory() as folder:
        copy = Path(folder, "export")
        copy.write_bytes(narrowed(data))
        return entries_of(copy)


def _first_line(opening: bytes) -> str:
    return opening.partition(b"\n")[0].decode("utf-8-sig", "replace").replace('"', "")


def _entries_in_turn(path: Path) -> list[tuple[int, Entry]]:
    """Return (line number, entry) for each entry of `journalctl -o verbose`, or of JSON objects in a row.

    There are none in a larger file, and none in a file with a single object.
    """
    if path.stat().st_size > MAX_BYTES:
        return []
    text = path.read_text("utf-8", "replace")
    if text[:1].isalpha():
        return [*verbose_entries(text)]
    text = _OF_RUBY.sub(lambda field: f'{field[1]}: "{field[2]}"' if field[2] else f"{field[1]}: ", text)
    found = [] if is_too_dense(text.encode()) else objects_in_turn(text)
    entries = [(number, unwrapped(entry)) for number, entry in found]
    return entries if len(found) > 1 and all(is_log_entry(entry) for _, entry in entries) else []


def _of_document(path: Path, opening: bytes) -> Export | None:
    """Return the lines of the logs in a document, as entries if it names writers; None if it has no logs."""
    try:
        found, damage = logs_in(path, opening)
    except NoLogsError as error:
        return Export(skip=str(error))
    if not found:
        return Export(damage=damage) if damage else None
    numbers = [line.number for line in found] if all(line.number for line in found) else ()
    if not any(line.stream for line in found):
        return Export([line.text for line in found], damage, numbers=numbers)
    entries = ({"message": line.text, "logStreamName": line.stream or None} for line in found)
    return Export([json.dumps(entry) for entry in entries], damage, numbers=numbers)


def _lines_in_order(path: Path) -> Export:
    """Return the lines of a file, oldest first; an empty export if the file has them so, or is too large."""
    if path.stat().st_size <= MAX_BYTES and order.is_without_order(path):
        return _of_lines(order.sorted_lines(_lines_of(path)))
    return _reversed(path) if order.is_newest_first(path) else Export()


def _reversed(path: Path) -> Export:
    if path.stat().st_size > MAX_BYTES:
        return Export(damage="is newest first, and too large to be reversed; export it oldest first")
    return _of_lines(_lines_of(path)[::-1])


def _of_lines(lines: Sequence[tuple[int, str]]) -> Export:
    return Export([line for _, line in lines], numbers=[number for number, _ in lines])


def _lines_of(path: Path) -> list[tuple[int, str]]:
    """Return number and text of each line that is not blank."""
    with path.open("rb") as file:
        return [
            (number, line.decode("utf-8", "replace").rstrip("\n"))
            for number, line in enumerate(file, 1)
            if line.strip()
        ]


def _read_reordered(source: Source, matcher: Matcher, lines: Iterable[str]) -> list[SourceRows]:
    """Return the rows of `lines`, read in place of the content of the source."""
    from analyzer.storage.scratch import ScratchDirectory

    with ScratchDirectory() as folder:
        path = Path(folder, "entries.jsonl")
        with path.open("w", encoding="utf-8", errors="replace") as file:
            file.writelines(f"{line}\n" for line in lines)
        return log_reader.read(source._replace(path=path), matcher)


def _entries(path: Path) -> tuple[list[Entry] | None, Sequence[int]]:
    """Return the entries of a JSON file, None if it is malformed, and the lines where they begin."""
    data = path.read_bytes()
    try:
        whole = None if is_too_dense(data) else json.loads(data)
    except json.JSONDecodeError as error:
        is_several = error.msg == "Extra data"
        batches = objects_in_turn(data.decode("utf-8", "replace")) if is_several else []
        return entries_of_batches([batch for _, batch in batches]) or None, ()
    except (ValueError, RecursionError):
        return None, ()
    entries = entries_in(whole)
    return entries, lines_of_elements(data, len(entries)) if entries else ()


def _documents(path: Path) -> list[Entry] | None:
    """Return the entries of a file of YAML documents; None if it is malformed, too large or has aliases.

    Aliases of aliases make gigabytes of a few lines.
    """
    import yaml

    try:
        loader, data = getattr(yaml, "CSafeLoader", yaml.SafeLoader), path.read_bytes()
        events = enumerate(islice(yaml.parse(data, loader), MAX_YAML_EVENTS + 1))
        if any(number == MAX_YAML_EVENTS or isinstance(each, yaml.AliasEvent) for number, each in events):
            return None
        documents = json.loads(json.dumps(list(yaml.load_all(data, loader)), default=str))
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    if len(documents) == 1 and (listed := entries_in(documents[0])):
        return listed
    return [entry for entry in documents if isinstance(entry, dict)] or None


def _oldest_first(entries: Sequence[Entry], numbers: Sequence[int] = ()) -> Export:
    """Return the entries in the order of time; `numbers` has the line where each begins, if known."""
    places = order.by_time(entries)
    known = len({*numbers}) == len(entries)
    begins = [numbers[at] for at in places] if known else ()
    return Export([json.dumps(entries[at]) for at in places], numbers=begins)


def _of_numbered(entries: Iterable[tuple[int, Entry]]) -> Export:
    """Return the entries in the order of time, each given with the line where it begins."""
    found = [*entries]
    return _oldest_first([entry for _, entry in found], [number for number, _ in found])
