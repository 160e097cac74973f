"""Lines of one origin → records, matches, scalars and facts."""

import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from analyzer.ingest.logs import fact_patterns, gauges
from analyzer.ingest.logs.boots import BOOTED, Boots
from analyzer.ingest.logs.fingerprints import fingerprints
from analyzer.ingest.logs.launchers.wrapper_status import WrapperStatus
from analyzer.ingest.logs.pastes.markdown import begins_output, is_fence
from analyzer.ingest.logs.pod_lines import PodLines
from analyzer.ingest.logs.prefixes.dates import Dates
from analyzer.ingest.logs.progress.points import ProgressPoint
from analyzer.ingest.logs.progress.printed_tables import TableReader
from analyzer.ingest.logs.progress.reader import ProgressReader
from analyzer.ingest.logs.records import Record, records
from analyzer.ingest.logs.text import MAX_LINE_CHARS, Line, lines
from analyzer.ingest.matcher import Hit, Matcher
from analyzer.ingest.reader_output import SourceRows
from analyzer.model.lazy_regex import lazy_regex
from analyzer.model.messages import Message
from analyzer.model.schema import LARGEST_INT
from analyzer.model.task_names import listed_workers
from analyzer.model.tracebacks.frames import executed

EDGE_RECORDS = 60
"""Records at the start and end of a log that are always kept, as context for unknown failures."""

_SETTING = lazy_regex(r"(?:export |declare -x )?[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+=(?!=)")
"""Regex for the name of a variable of the environment, whose value is no message, whatever it says."""

Wanted = deque[tuple[int, set[str]]]
"""(line number, ids of the patterns with a literal in that line), in order."""


def read_stream(
    output: SourceRows, stretches: Sequence[list[tuple[int, str]]], year: int, matcher: Matcher
) -> None:
    """Read chunks of numbered lines, in order and with gaps between them, into `output`."""
    progress, printed = ProgressReader(), TableReader()
    excerpts, boots, pods = _Excerpts(), Boots(), PodLines(output)
    status = WrapperStatus()
    wanted: Wanted = deque()
    dates = Dates(year, stretches)
    found = records(_lines(output, stretches, wanted, matcher), dates, matcher.wording)
    for record, is_edge in _with_edges(found):
        hits = [(hit, matcher.facts.get(hit.pattern)) for hit in _hits(record, wanted, matcher)]
        about = pods.worker(record)
        for hit, announced in hits:
            if announced is None or announced.detail != BOOTED:
                _add_hit(output, record, hit, announced, {"worker": about} if about else {})
        if boots.covers(record, hits):
            continue
        output.observe_time(record.time)
        if record.cut:
            what = f"a very long record, read without the {record.cut} lines in its middle"
            output.add_damage(what, line=record.line)
        if record.kind in {"progress", "plain", "python"}:
            _read_progress(output, record, progress, printed)
        if record.kind not in {"cpp", "traceback"}:
            gauges.add_gauges(output, record)
        excerpts.read(output, record)
        status.read(record)
        if hits or is_edge or record.kind == "traceback" or record.level in {"W", "E", "F"}:
            _add_record(output, record)
    boots.add_fact(output)
    status.add_fact(output)
    output.lacks_date, output.time_zone = dates.lacks_date, dates.time_zone
    output.utc_offset = dates.utc_offset


class _Excerpts:
    """Counts the blocks of code of a post; a later one may be of another run than those before it."""

    def __init__(self) -> None:
        self._is_open = self._has_block = False

    def read(self, output: SourceRows, record: Record) -> None:
        """Add a fact `excerpt_begins` where a further block of a program's output begins."""
        text = record.bodies[0]
        if not is_fence(text):
            self._has_block |= self._is_open and bool(text.strip())
            return
        self._is_open = not self._is_open
        if self._is_open and self._has_block and begins_output(text):
            output.add("facts", key="excerpt_begins", value="yes", line=record.line, time=record.near)


def _lines(
    output: SourceRows, stretches: Iterable[list[tuple[int, str]]], wanted: Wanted, matcher: Matcher
) -> Iterator[Line | None]:
    """Yield all lines, with None for each gap, and collect in `wanted` what the matcher finds."""
    for number, stretch in enumerate(stretches):
        if number:
            yield None
        data = "\n".join(line for _, line in stretch).encode("utf-8", "replace")
        output.bytes += len(data)
        output.lines = (output.lines or 0) + len(stretch)
        found = matcher.lines(data)
        _report_overlong_lines(output, stretch)
        wanted.extend((stretch[line - 1][0], found[line]) for line in sorted(found))
        yield from lines(stretch)


def _report_overlong_lines(output: SourceRows, numbered: list[tuple[int, str]]) -> None:
    """Report the lines that were too long and shortened; a progress bar counts by its longest state."""
    long = [(number, re.split(r"[\r\x08]", line)) for number, line in numbered if len(line) > MAX_LINE_CHARS]
    overlong = [number for number, states in long if max(map(len, states)) > MAX_LINE_CHARS]
    if overlong:
        what = f"{len(overlong)} endless line{'s' * (len(overlong) > 1)}, of which the middle is left out"
        output.add_damage(what, line=overlong[0])


def _with_edges(found: Iterable[Record]) -> Iterator[tuple[Record, bool]]:
    """Yield (record, is_edge); True for the first and the last `EDGE_RECORDS` of a log."""
    waiting: deque[Record] = deque()
    for position, record in enumerate(found):
        if position < EDGE_RECORDS:
            yield record, True
            continue
        waiting.append(record)
        if len(waiting) > EDGE_RECORDS:
            yield waiting.popleft(), False
    yield from ((record, True) for record in waiting)


def _hits(record: Record, wanted: Wanted, matcher: Matcher) -> list[Hit]:
    ids: set[str] = set()
    while wanted and wanted[0][0] < record.line:
        wanted.popleft()
    for line, found in wanted:
        if line > record.last_line:
            break
        ids |= found
    if not ids:
        return []
    text = executed(record.text) if record.kind == "traceback" else record.text
    hits = matcher.confirm(ids, text, record.level)
    if record.kind == "plain" and (setting := _SETTING.match(text)):
        return [hit for hit in hits if hit.start < setting.end() or hit.pattern in matcher.facts]
    return hits


def _read_progress(
    output: SourceRows, record: Record, progress: ProgressReader, printed: TableReader
) -> None:
    for body in record.bodies:
        points = _points(record, body, progress, printed)
        if points and max(number or 0 for number in points[0][1:5]) > LARGEST_INT:
            output.add_damage("a step or epoch whose number is too large to be one", line=record.line)
            continue
        for point in points:
            output.add(
                "scalars", line=record.line, time=record.time, tag=point.tag, epoch=point.epoch,
                epochs=point.epochs, step=point.step, steps=point.steps, value=point.value, scope=point.scope,
                origin=point.origin,
            )  # fmt: skip
        if points and (at := points[0].epoch if points[0].step is None else points[0].step) is not None:
            for name, value in fingerprints(body):
                output.add(
                    "checksums", line=record.line, time=record.time, kind="printed_weights", step=at,
                    name=name, digest=value,
                )  # fmt: skip


def _points(record: Record, body: str, progress: ProgressReader, printed: TableReader) -> list[ProgressPoint]:
    """Return the values in a line; a table that begins after other progress lines is their summary."""
    if record.kind == "progress":
        return progress.points(body)
    below = progress.points_below(body) if record.kind == "plain" else []
    if below or record.level in {"W", "E", "F"}:
        return below
    is_read = printed.has_rows or not progress.has_steps
    return (is_read and printed.points(body)) or progress.points_counted(body)


def _add_hit(
    output: SourceRows, record: Record, hit: Hit, announced: Message | None, about: dict[str, str]
) -> None:
    """Add a match or facts; `about` gives the worker if that is not the worker of the log."""
    blank = len(hit.matched) - len(hit.matched.lstrip()) if hit.matched.strip() else 0
    piece, start = record.place(hit.start + blank)
    if announced is None:
        end = start + len(hit.matched[blank:].split("\n", 1)[0])
        output.add(
            "matches", pattern=hit.pattern, line=piece.number, time=record.time, kind=record.kind,
            excerpt=piece.text, start=start, end=min(len(piece.text), end),
            captures=json.dumps(dict(hit.captures)), **about,
        )  # fmt: skip
    elif announced.in_errors or record.level not in {"W", "E", "F"}:
        others = [{"worker": task} for task in listed_workers(hit.captures.get("of_task", ""))]
        for key, value in fact_patterns.facts(hit, announced):
            line = _line_naming(record, value) if key == "awaits" and value else piece.number
            for other in others or [about]:
                place = {"line": line, "time": record.time, "excerpt": piece.text, **other}
                output.add("facts", key=key, value=value, **place)


def _line_naming(record: Record, task: str) -> int:
    """Return the line of a multi-line list of tasks that names this task."""
    ending = "/task:" + task.partition(":")[2]
    return next((piece.number for piece in record.pieces if piece.text.strip().endswith(ending)), record.line)


def _add_record(output: SourceRows, record: Record) -> None:
    if not (text := record.text).strip():
        return
    output.add(
        "records", line=record.line, last_line=record.last_line, lines=record.listed_lines(text),
        time=record.time, near=record.near, level=record.level, kind=record.kind, origin=record.origin,
        text=text,
    )  # fmt: skip
