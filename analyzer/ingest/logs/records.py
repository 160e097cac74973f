"""Lines → records: a record is a line and the continuation lines that belong to it.

A traceback is one record, from its first line to the last line of its message, chained exceptions included.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from analyzer.ingest.logs.pastes.markdown import is_fence
from analyzer.ingest.logs.prefixes.dates import Dates
from analyzer.ingest.logs.prefixes.heads import Head, head
from analyzer.ingest.logs.progress.layouts import is_progress
from analyzer.ingest.logs.text import Line, shorten
from analyzer.model.lazy_regex import lazy_regex
from analyzer.model.messages import Messages
from analyzer.model.tracebacks.lines import header_of, ignores_exception, names_error, starts_traceback
from analyzer.model.tracebacks.open_traceback import OpenTraceback

LONGEST_RECORD = 16_384
"""Maximum characters of a record; longer ones keep their head and tail."""

LONGEST_HEAD, LONGEST_TAIL = 64 * LONGEST_RECORD, 4 * LONGEST_RECORD
"""Characters kept in memory from the start and the end of a huge record; the end has the exception."""

MOST_LISTED = 1_000
"""Maximum number of lines of a record whose numbers are listed."""

LONGEST_QUOTE = 40
"""Maximum lines of an error status that TensorFlow's Python logger quotes."""

_DUMPED = lazy_regex(
    r"Timeout \(\d+:\d\d:\d\d[.\d]*\)!|(?:Current thread|Thread) 0x[0-9a-f]+ .*most recent call first"
)
"""First line of a thread dump without a fatal error: `dump_traceback_later`, or a signal."""
_TENSORFLOW_ERROR = lazy_regex(
    r"tensorflow\.|(?:\w+\.)*(?:PSUnavailableError|errors_impl)|NotImplementedError: unable to open file: "
    r"|\w+Error(?: \(see above for traceback\): |: (?:From /job:\S+:|Graph execution error:)\s*$)"
    r"|\w+: Exception encountered when calling "
)
"""Regex for an error of TensorFlow or Keras, whose message has more lines; notebooks name a class alone."""

_STATUS = lazy_regex(r'\{"created":"@')
_LOST_TASK = " TaskSetManager: Lost task "
"""Words of Spark's driver before the traceback of each task of a stage; no chain of exceptions has them."""
_RULED = lazy_regex(r"-{40,}$")
"""A line of dashes: mpirun's box around what it has to say, and the head of a notebook's traceback."""


class Wording(NamedTuple):
    """Prefixes of lines that continue the record before them."""

    continues: tuple[str, ...] = ()
    status: tuple[str, ...] = ()
    """Prefixes of lines that continue an error status; its first line may lack a logger's prefix."""
    chains: tuple[str, ...] = ()
    """Prefixes of lines between the tracebacks of a chain."""
    dumps: tuple[str, ...] = ()
    """Prefixes of lines in a dump of threads."""


def wording(messages: Messages) -> Wording:
    """Return the prefixes that messages define; an indented line always continues a record."""
    status = messages.literals("continues_status")
    return Wording(
        ("\t", " ", *messages.literals("continues"), *status),
        status,
        messages.literals("chains_traceback"),
        messages.literals("dumps_threads"),
    )


class Record:
    """One log record; `kind` is cpp, python, traceback, progress or plain."""

    def __init__(self, first: Line, kind: str, body: str) -> None:
        """Create with the first line; `body` is that line without its prefix."""
        self.line, self.kind = first.number, kind
        self.time: float | None = None
        self.level: str | None = None
        self.origin: str | None = None
        self.pieces, self.bodies = [first], [body]
        self.near: float | None = None
        self.size = 0
        self.open = OpenTraceback(first.text) if kind == "traceback" else None
        self.cut = 0
        """Number of lines left out of the middle of the record."""
        self.tail_size = 0
        self.tail: deque[Line] | None = None
        """The latest lines of a record whose head is full."""

    @property
    def last_line(self) -> int:
        """Return the number of its last line."""
        return self.pieces[-1].number

    @property
    def text(self) -> str:
        """Return the whole text; a huge one without its middle."""
        return shorten("\n".join(piece.text for piece in self.pieces), LONGEST_RECORD)

    def listed_lines(self, text: str) -> str | None:
        """Return the numbers of the lines of `text`, the record's own, as 96,100,104-106.

        None if they follow one another, but for what was cut out of the middle, or are too many to list.
        """
        shown = text.count("\n") + 1
        if shown == 1 or shown > MOST_LISTED:
            return None
        above = text.count("\n", 0, LONGEST_RECORD // 2) + 1
        pieces = [*self.pieces[:above], *self.pieces[len(self.pieces) - shown + above :]]
        spans = _spans([piece.number for piece in pieces])
        is_cut = shown < len(self.pieces) and len(spans) == 2 and len(spans[0]) == above
        return None if len(spans) == 1 or is_cut else ",".join(map(_named, spans))

    def place(self, at: int) -> tuple[Line, int]:
        """Return the line that contains a character of `text`, and the position in it."""
        whole, half = sum(len(piece.text) + 1 for piece in self.pieces) - 1, LONGEST_RECORD // 2
        if whole > LONGEST_RECORD and at >= half:
            at = max(half, at + whole - len(self.text))
        for piece in self.pieces:
            if at <= len(piece.text):
                return piece, at
            at -= len(piece.text) + 1
        return self.pieces[-1], len(self.pieces[-1].text)


def _spans(numbers: Sequence[int]) -> list[range]:
    """Return the numbers as ranges of those that follow one another."""
    spans: list[range] = []
    for number in numbers:
        if spans and number == spans[-1].stop:
            spans[-1] = range(spans[-1].start, number + 1)
        else:
            spans.append(range(number, number + 1))
    return spans


def _named(span: range) -> str:
    return str(span.start) if len(span) == 1 else f"{span.start}-{span.stop - 1}"


def records(lines: Iterable[Line | None], dates: Dates, words: Wording) -> Iterator[Record]:
    """Yield the records of one source, in order; `dates` completes times that lack one.

    A None in `lines` stands for omitted lines; only an open traceback continues after them. A line that names
    an exception is an error without its traceback if it is the last one of the log, or of a block of code in
    Markdown, or follows nothing but blank and indented lines: the log was cut within the traceback.
    """
    held: Record | None = None
    is_head = True
    for record in _records(lines, dates, words):
        first = record.pieces[0].text
        if first or len(record.pieces) > 1:
            if held:
                yield _as_error(held) if is_fence(first) else held
            is_indented = first.startswith(" ")
            held = _as_error(record) if is_head and not is_indented and record.line > 1 else record
            is_head = is_head and is_indented
    if held:
        yield _as_error(held)


def _as_error(record: Record) -> Record:
    """Return the record of an error without its traceback; other records stay as they are."""
    if record.kind == "plain" and names_error(record.text):
        record.kind, record.level = "traceback", "E"
    return record


def _records(lines: Iterable[Line | None], dates: Dates, words: Wording) -> Iterator[Record]:
    current: Record | None = None
    near: float | None = None
    broken = False
    for line in lines:
        if line is None:
            broken = True
            continue
        if current and (
            _continues_traceback(current, line) if broken else _belongs(current, line.text, dates.year, words)
        ):
            _extend(current, line, words)
            broken = False
            continue
        if current and current.pieces:
            yield _closed(current)
        broken = False
        current = _begin(line, dates, near)
        near = current.time if current.time is not None else near
        current.near = near
    if current:
        yield _closed(current)


def _continues_traceback(record: Record, line: Line) -> bool:
    """Return True if a line after a gap continues an open traceback; the skipped lines count as cut."""
    goes_on = record.open is not None and record.open.ending is None and line.text[:2] == "  "
    record.cut += (line.number - record.last_line - 1) * goes_on
    return goes_on


def _begin(line: Line, dates: Dates, near: float | None) -> Record:
    found = dates.head(line.text, near)
    body = found.text if found else line.text
    record = Record(line, _kind(found, body), body)
    if found:
        record.time, record.level, record.origin = found.time, found.level, found.origin
    if record.kind == "traceback" and record.level is None:
        record.level = "E"
    return record


def _kind(found: Head | None, body: str) -> str:
    if starts_traceback(body):
        return "traceback"
    if is_progress(body):
        return "progress"
    return found.kind if found else "plain"


def _extend(record: Record, line: Line, words: Wording) -> None:
    if record.open:
        record.open.add(line.text)
        if line.text.startswith(words.chains):
            record.open.reopen()
    elif header_of(line.text):
        record.kind, record.level, record.open = "traceback", record.level or "E", OpenTraceback(line.text)
    record.size += len(line.text) + 1
    if record.size < LONGEST_HEAD:
        record.pieces.append(line)
        record.bodies.append(line.text)
        return
    record.tail = record.tail or deque()
    record.tail.append(line)
    record.tail_size += len(line.text) + 1
    while record.tail_size > LONGEST_TAIL and len(record.tail) > 1:
        record.tail_size -= len(record.tail.popleft().text) + 1
        record.cut += 1


def _closed(record: Record) -> Record:
    """Return the finished record, with its tail appended to its head."""
    if record.tail:
        record.pieces.extend(record.tail)
        record.bodies.extend(line.text for line in record.tail)
        record.tail = None
    if record.open and (not record.open.has_error or ignores_exception(record.bodies[0])):
        record.kind, record.level = "plain", None
    return record


def _belongs(record: Record, text: str, year: int, words: Wording) -> bool:
    """Return whether a line continues the record before it."""
    if is_fence(text) or is_fence(record.bodies[0]):
        return False
    if record.open:
        return _belongs_to_traceback(record.open, text, year, words)
    if record.kind == "plain" and text.lstrip().startswith(words.status):
        return True
    if ignores_exception(record.bodies[0]) and header_of(text):
        return True
    if record.kind == "plain" and (not text or text[0] == " " or text.startswith(words.dumps)):
        return _DUMPED.match(record.bodies[0]) is not None
    if record.kind == "python" and record.level in {"E", "F"} and header_of(text):
        return True
    if record.kind in {"cpp", "python"} and text and not is_progress(text):
        if text.startswith(words.continues):
            return True
        return (_quotes_an_error(record) or _is_wrapped(record)) and head(text, year) is None
    return False


def _quotes_an_error(record: Record) -> bool:
    """Return whether a record quotes an error status, whose further lines have no common form."""
    return record.level == "E" and record.origin == "tensorflow" and len(record.pieces) < LONGEST_QUOTE


def _is_wrapped(record: Record) -> bool:
    """Return whether a status printed as JSON has unclosed brackets, because a console wrapped the line."""
    if len(record.pieces) >= LONGEST_QUOTE or not _STATUS.search(record.bodies[0]):
        return False
    text = "".join(record.bodies)
    return text.count("{") > text.count("}") or text.count("[[") > text.count("]]")


def _belongs_to_traceback(traceback: OpenTraceback, text: str, year: int, words: Wording) -> bool:
    if _LOST_TASK in text and head(text, year):
        return False
    belongs = traceback.continues(text)
    if belongs is not None:
        return belongs
    if text.startswith(words.chains):
        return True
    if is_progress(text) or head(text, year):
        return False
    ended = traceback.ending
    if ended is None or text.startswith(words.dumps):
        return True
    if _RULED.match(text):
        return False
    return bool(_TENSORFLOW_ERROR.match(ended)) or ended.count("(") > ended.count(")") or "{" in ended
