"""Pasted text → the lines of its log, without Markdown's marks, cells, indentation and hard spaces.

What the author says of errors that did not occur is emptied: *there is no "Connection refused"*.
No line is added or left out, so that each keeps its number.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from analyzer.ingest.logs.collectors.streams import Style, detect_style
from analyzer.ingest.logs.prefixes import head
from analyzer.ingest.logs.progress import is_progress
from analyzer.model.lazy_regex import lazy_regex
from analyzer.model.traceback_format import header_of, names_error

LARGEST_PASTE = 1_000_000
"""Maximum size in bytes of a log that may be a paste; GitHub takes 65,536 characters a comment."""

_FENCE = lazy_regex(r"\s{0,3}(?:```+|~~~+)(?P<language>[\w+-]*)$")
_OUTPUT = frozenset({"", "bash", "console", "log", "none", "plaintext", "sh", "shell", "text", "txt"})
"""Languages of blocks that hold what programs print, not code."""
_QUOTED = re.compile(r"^>(?!>| ?File \") ?")
"""Markdown's sign of a quotation; a prompt of Python and a frame of loguru begin alike."""
_CODE = re.compile(r"^`(?P<code>[^`]+)`?$")
"""Regex for a line that is code as a whole, or begins code of several lines; other backticks stay."""
_CELLS = re.compile(
    r"\s*\|[|\s]*(?:\d{4}-)?\d\d-\d\d \d\d:\d\d:\d\d[.,\d]*\s*\|"
    r"(?:\s*(?:DEFAULT|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|ALERT|EMERGENCY)\s*\|)? ?(?P<text>.*)$"
)
"""Regex for a row of a table copied from a log service; lines state their own times, not only the table."""
_INDENTED = 4
"""Minimum number of characters by which Markdown's blocks of code are indented."""
_NO_YEAR = 1970

_PERSON = lazy_regex(
    r"(?<![\w'`/.-])(?:I|I['’](?:m|ve|d|ll)|[Ss]ome(?:body|one)|[Ss]ome people)(?![\w'’=:/.-]| tensorflow/)"
)
"""Regex of words by which a person speaks of themselves or of other people; programs do not say `I`."""
_SENTENCE = lazy_regex(r"\W{0,4}[^\W\d_]\S*(?:\s+\S+){4,}")
_BETWEEN_SENTENCES = lazy_regex(r"(?<=[.!?])\s+(?=[A-Z\"'`(*])")
_OF_OTHERS_OR_PAST = lazy_regex(
    r"\b[Ss]ome(?:body|one| people) (?:\w+ )?(?:sa(?:id|ys?)|wrote|told|suggest|mention|report|had|thinks?)"
    r"|\bread (?:about|of|that)\b|\bin (?:some |many )?other (?:issues|threads|posts|questions)\b"
    r"|\b(?:first|initially|originally|at first) (?:thought|assumed|suspected|guessed|believed)\b"
    r"|\b(?:I|we|which) (?:\w+ )?(?:fixed|solved|resolved)\b|(?<!not )\b(?:went away|is gone|are gone)\b"
)
"""Regex for what other people met, or what the author had supposed or had mended."""
_DOUBTED = lazy_regex(
    r"\b(?:no|not|never|none|nor|neither|without|maybe|perhaps|might|whether|already tried)\b|n['’]t\b"
    r"|\b(?:thought|think|suspect|guess|assum)(?:e|ed|ing|s)?\b|\b(?:could|may) be\b|\be\.g\.|\bfor example\b"
)
_MET = lazy_regex(
    r"(?i:\b(?:I|it|we|you|which|then|now|always|still|only|but|and|job|training|script|program|code|process"
    r"|worker|chief|run|error|message)\b[^\w.]+(?:[\w']+[^\w.]+){0,2}?(?:gets?|got|getting|sees?|saw|receive[ds]?"
    r"|throws?|raises?|fail(?:s|ed)?|crash(?:es|ed)?|die[sd]|hangs?|ends?|ended|stop(?:s|ped)?|prints?|shows?"
    r"|says?|reports?|gives?|gave|keeps?|is|was|ran|runs|met|hit)\b(?![^\w]+(?:no|not|any|none|nothing|never)\b))"
)
"""Regex for a sentence that says what the program did, whatever else it doubts."""


def is_fence(text: str) -> bool:
    """Return True for a line that begins or ends a block of code; a log begins or ends there."""
    return ("```" in text or "~~~" in text) and _FENCE.match(text) is not None


def begins_output(fence: str) -> bool:
    """Return True if the block of code below a fence holds, by its language, what a program printed."""
    match = _FENCE.match(fence)
    return match is not None and match["language"].lower() in _OUTPUT


def unmarked(lines: Sequence[str]) -> list[str]:
    """Return the lines as their log had them."""
    bare = [_without_marks(line) for line in lines]
    depth = min((_depth(line) for line in bare if line.strip()), default=0)
    return list(_without_doubts(_dedented([line[depth:] for line in bare])))


def fenced(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines within blocks of code; all lines if there is no such block."""
    inside, is_open = [], False
    for line in lines:
        if is_fence(line):
            is_open = not is_open
        elif is_open:
            inside.append(line)
    return inside or lines


def style_of_paste(lines: Sequence[str]) -> Style | None:
    """Return the collector style of the blocks of code in a paste, or else that of all its lines.

    Headings that name the workers stand outside of the blocks.
    """
    code = fenced(lines)
    style = detect_style(code)
    return style if style or code is lines else detect_style(lines)


def _without_marks(line: str) -> str:
    line = line.replace("\N{NO-BREAK SPACE}", " ")
    if "|" in line and (row := _CELLS.match(line)):
        text, bar, rest = row["text"].rpartition("|")
        return text.rstrip() if bar and text[-1:].isspace() and not rest.strip() else row["text"]
    if line[:1] not in {">", "`"}:
        return line
    bare = _QUOTED.sub("", line)
    return _CODE.sub(r"\g<code>", bare)


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _dedented(lines: Sequence[str]) -> list[str]:
    """Return the lines, with the indentation removed from blocks that begin like a log."""
    moved, depth, follows_blank = [], 0, True
    for line in lines:
        indented = _depth(line)
        if line.strip():
            if indented < depth:
                depth = 0
            if not depth and follows_blank and indented >= _INDENTED and _begins_log(line.strip()):
                depth = indented
        moved.append(line[depth:])
        follows_blank = not line.strip()
    return moved


def _without_doubts(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines; in prose outside of blocks of code, without sentences about errors that did not occur."""
    is_open = False
    for is_text, group in groupby(lines, lambda line: bool(line.strip()) and not is_fence(line)):
        block = list(group)
        is_open ^= sum(map(is_fence, block)) % 2 == 1
        speaks = is_text and not is_open and any(map(_PERSON.search, block))
        yield from _asserted(block) if speaks else block


def _asserted(paragraph: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a paragraph in which a person speaks, with what is said to have occurred."""
    prose = [_is_prose(line) for line in paragraph]
    for line, is_prose in zip(paragraph, prose, strict=True):
        if is_prose and (all(prose) or _PERSON.search(line)):
            yield " ".join(each for each in _BETWEEN_SENTENCES.split(line) if not _is_doubted(each))
        else:
            yield line


def _is_prose(line: str) -> bool:
    of_log = is_progress(line) or names_error(line) or _begins_log(line)
    return _SENTENCE.match(line) is not None and not of_log


def _is_doubted(sentence: str) -> bool:
    if _OF_OTHERS_OR_PAST.search(sentence):
        return True
    return _DOUBTED.search(sentence) is not None and not _MET.search(sentence)


def _begins_log(text: str) -> bool:
    return head(text, _NO_YEAR) is not None or header_of(text) is not None
