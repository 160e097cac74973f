"""A worker's stdout or stderr of any size → records, matches, scalars and facts."""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib import import_module
from itertools import chain

from analyzer.ingest.logs.collectors.headings import kind_below
from analyzer.ingest.logs.collectors.joined import Numbered, joined_at, parts
from analyzer.ingest.logs.collectors.sections import has_headings
from analyzer.ingest.logs.collectors.streams import detect_style, is_unread_layout, split_streams
from analyzer.ingest.logs.pastes.hard_wraps import joined
from analyzer.ingest.logs.pastes.markdown import LARGEST_PASTE, style_of_paste, unmarked
from analyzer.ingest.logs.prefixes.time_formats import NO_YEAR
from analyzer.ingest.logs.stream import read_stream
from analyzer.ingest.logs.text import MAX_LINE_CHARS, lines
from analyzer.ingest.matcher import Matcher
from analyzer.ingest.reader_output import SourceRows
from analyzer.ingest.scan.blocks import LogSlice
from analyzer.ingest.scan.fork_pool import ScanLog
from analyzer.ingest.scan.line_selection import Sampling, Selection, no_progress
from analyzer.ingest.scan.scan_plan import scan_log
from analyzer.model.budget import Budget
from analyzer.model.log_layout import UNREAD_LAYOUT, part_key
from analyzer.model.run import Source
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import host_in, is_numbered, is_rotated, natural_order, worker_of

_MAX_DIGITS = 25
"""Maximum length of a task index; Python refuses to convert thousands of digits."""

_PROMPT = re.compile(r"(?:\([\w./-]{1,60}\) )?[\w.-]{1,40}@[\w.-]{1,100}[: ][^\n]{0,200}[$#%>] *$")
"""Regex for the prompt of a shell, which waits in the last line of what a terminal recorded."""
_REDRAW = re.compile(rb"[\r\x08]")
_YEAR = re.compile(
    rb"(?<!\d)(20[2-9]\d)-[01]\d-[0-3]\d[T ]|0000 00:00:(\d{9,11})\."
    rb"|^(201[5-9])-[01]\d-[0-3]\d \d\d:\d\d:\d\d\.\d{6}: [IWEF] ",
    re.MULTILINE,
)


def read(source: Source, matcher: Matcher, scan: ScanLog | None = None) -> list[SourceRows]:
    """Return the rows of one log: one item, or one per worker if it has the output of several.

    `scan` selects the lines to read; by default the log is scanned here.

    Raises:
        OSError: the file cannot be read or decompressed.
    """
    matcher.begin_file()
    scanned = scan or (
        lambda log: scan_log(log, lambda: matcher.prefilter, no_progress, Sampling(), Budget())
    )
    selection, damage, broken_at = scanned(source)
    outputs = _read_selection(source, selection, matcher)
    for output in outputs if damage else ():
        output.add_damage(damage)
    if not damage and not is_rotated(source.name):
        _add_cut_end(outputs, selection.slices[-1])
    flaws = (
        ("holds NUL bytes, like a file that was not closed properly", selection.nul),
        ("holds bytes that are not UTF-8", selection.undecodable),
        ("holds bytes that are not UTF-16", broken_at),
    )
    for what, offset in flaws:
        if offset is not None:
            outputs[0].add_damage(what, offset=offset)
    if (line := _line_of_cut_entry(selection.slices[-1])) is not None:
        outputs[0].add_damage("ends within a JSON object: its writer was probably stopped", line=line)
    for pattern in sorted(matcher.slow):
        rule, _, signal = pattern.partition("/")
        what = f"rule {rule}, signal {signal}: its regex took too long and was given up"
        outputs[0].add("damage", source=source.name, what=what)  # the file is read nevertheless
    return outputs


def _line_of_cut_entry(end: LogSlice) -> int | None:
    """Return the number of the last line of a log if a JSON object begins there and does not end."""
    last = end.data[-MAX_LINE_CHARS:].rstrip().rpartition(b"\n")[2]
    cut = last.startswith(b'{"') and not last.endswith(b"}")
    return end.line + end.data.rstrip().count(b"\n") if cut else None


def _add_cut_end(outputs: Iterable[SourceRows], end: LogSlice) -> None:
    """Add a fact `ends_within_line` for each worker of a log that stops in its last line.

    Progress bars, rows of dots and prompts do not count: programs print them without a line end.
    """
    last = end.data[-MAX_LINE_CHARS:].rpartition(b"\n")[2]
    number = end.line + end.data.count(b"\n")
    shown = [] if _REDRAW.search(last) else list(lines([(number, str(last, "utf-8", "replace"))]))
    is_whole = all(_PROMPT.match(line.text) or not re.search(r"\w", line.text) for line in shown)
    if is_whole or last.rstrip().endswith(b"}"):
        return
    for output in outputs:
        own = any(at == number for (at,) in output.cells("records", "last_line"))
        output.add("facts", key="ends_within_line", line=number if own else None)


def _read_selection(source: Source, selection: Selection, matcher: Matcher) -> list[SourceRows]:
    """Return the rows of the selected lines of a file, one item per stream."""
    first, last = selection.slices[0].data, selection.slices[-1].data
    may_be_pasted = selection.bytes <= LARGEST_PASTE
    pieces = [
        (piece.line, _lines(piece.data.removesuffix(b"\n"), may_be_pasted=may_be_pasted))
        for piece in selection.slices
    ]
    opening = pieces[0][1]
    style = style_of_paste(opening) if may_be_pasted else detect_style(opening)
    if has_headings(style) and len(selection.slices) > 1:
        style = None  # a heading may lie in what is left out
    by_origin: dict[str | None, list[list[tuple[int, str]]]] = {}
    for start, piece in pieces:
        for stream in split_streams(list(enumerate(piece, start)), style):
            by_origin.setdefault(stream.key, []).append(stream.lines)
    year = _year(first) or _year(last) or NO_YEAR
    outputs = []
    for key, chunks in sorted(by_origin.items(), key=lambda stream: natural_order(stream[0] or "")):
        output = SourceRows(_stream_source(source, key, len(by_origin)), thinned=selection.thinned)
        kind = kind_below(key) if key and has_headings(style) else Kind.LOG
        if kind is Kind.LOG:
            read_stream(output, chunks, year, matcher)
            if is_unread_layout([line for _, line in chunks[0]]):
                output.add_damage(UNREAD_LAYOUT, line=chunks[0][0][0])
        else:
            output = _read_printed(output, kind, chunks, matcher)
        several = key is None and len(by_origin) == 1 and not _states_a_task(source.name)
        outputs += (_read_parts(output, chunks, year, matcher) if several else []) or [output]
    if len(outputs) == 1:
        outputs[0].bytes, outputs[0].lines = selection.bytes, selection.lines
    return outputs


def _read_parts(
    whole: SourceRows, chunks: Sequence[Numbered], year: int, matcher: Matcher
) -> list[SourceRows]:
    """Return the rows of each of the logs that one file was joined from; none if it holds one log."""
    begins = joined_at(whole, [*chain.from_iterable(chunks)])
    pieces = [parts(chunk, begins) for chunk in chunks] if begins else []
    outputs = []
    for number, own in enumerate(zip(*pieces, strict=True)):
        part = whole.source._replace(name=f"{whole.source.name}#{part_key(number)}", worker=None)
        output = SourceRows(part, thinned=whole.thinned)
        read_stream(output, [[*lines] for lines in own if lines], year, matcher)
        outputs.append(output)
    return outputs


def _states_a_task(name: str) -> bool:
    """Return True if a file's name states the task that wrote it, with its role."""
    return worker_of(name, Kind.OTHER) is not None and host_in(name) is None


def _lines(data: bytes, *, may_be_pasted: bool) -> Sequence[str]:
    """Return the lines of a part of a log; broken ones are joined."""
    lines = str(data, "utf-8", "replace").split("\n")
    return unmarked(lines) if may_be_pasted else joined(lines)


def _read_printed(
    output: SourceRows, kind: Kind, chunks: Iterable[list[tuple[int, str]]], matcher: Matcher
) -> SourceRows:
    """Read what a command printed with the reader of such files; lines keep their numbers in the log."""
    numbered = dict(chain.from_iterable(chunks))
    text = "\n".join(numbered.get(number, "") for number in range(1, max(numbered) + 1))
    printed = SourceRows(output.source._replace(kind=kind), text=text)
    import_module(f"analyzer.ingest.{kind.reader}").read(printed, matcher)
    return printed


def _stream_source(source: Source, key: str | None, streams_in_all: int) -> Source:
    """Return the source for one stream: the file itself, or a part named after its worker."""
    if key is None:
        return source
    if streams_in_all == 1 and worker_of(source.name, Kind.OTHER):
        return source
    is_number = key.isdecimal() and len(key) < _MAX_DIGITS
    worker = f"worker:{int(key)}" if is_number else worker_of(key)
    if streams_in_all == 1:
        return source._replace(worker=worker or source.worker)
    of_file = None if is_numbered(source.name) else source.worker
    return source._replace(name=f"{source.name}#{key}", worker=worker or of_file)


def _year(data: bytes) -> int | None:
    """Return the year that a part of the log shows."""
    if match := _YEAR.search(data):
        return datetime.fromtimestamp(int(match[2]), UTC).year if match[2] else int(match[1] or match[3])
    return None
