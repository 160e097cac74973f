"""Pasted text → the lines of its log, without Markdown's marks, cells, indentation and hard spaces.

What the author says of errors that did not occur is emptied: *there is no "Connection refused"*.
No line is added or left out, so that each keeps its number.
"""

import re
from collections.abc import Sequence
from itertools import accumulate

from analyzer.ingest.logs.collectors.line_styles import Style
from analyzer.ingest.logs.collectors.streams import detect_style
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
    r"(?<![\w'`/.-])(?:I(?= [a-z']+(?:[ ,.;:!?)]|$))|I['’](?:m|ve|d|ll)\b"
    r"|[Ss]ome(?:body|one| people)(?= [a-z]))"
)
"""Regex of words by which a person speaks of themselves or of other people; programs do not say `I`."""
_LISTED = lazy_regex(r"\s{0,3}[-*•] ")
_SENTENCE = lazy_regex(r"\W{0,4}[^\W\d_]\S*(?:\s+\S+){4,}")
_BETWEEN_SENTENCES = lazy_regex(r"(?<=[.!?])\s+(?=[A-Z\"'`(*])")
_OF_PROGRAM = lazy_regex(
    r"\s*(?:\[\S+\]|[$#%] |(?!(?i:btw|edit|fyi|note|ps|update):)[\w./-]+: |\w+ \d\d? \d\d:\d\d:\d\d )"
)
"""Regex of lines that a program or a prompt begins: `python: can't open file`, `[1,0]<stderr>:`."""
_NOT_HERE = lazy_regex(
    r"\b[Ss]ome(?:body|one| people) (?:\w+ )?(?:sa(?:id|ys?)|wrote|told|suggest|mention|report|had|thinks?)"
    r"|\b(?:[Mm]y|[Aa]|[Oo]ur) (?:colleague|co-?worker|friend|teammate|boss|admin)\b"
    r"|\b[Oo]n (?:my|our|the|an?) (?:old|older|other|another|different|previous)"
    r" (?:cluster|computer|host|image|laptop|machine|node|server)s?\b"
    r"|\bknown (?:bug|issue|problem)s?\b"
    r"|\b[Tt]he (?:docs?|documentation|manual|FAQ) (?:\w+ )?(?:mention|say|state|suggest|warn)s?\b"
    r"|\b(?:I|we|it)['’]d (?:\w+ )?(?:get|see|expect|fail|be|have)\b"
    r"|\b(?:ruled|rule) out\b|\bread (?:about|of|that)\b"
    r"|\bin (?:(?:some |many )?other|that|this|the linked) (?:issue|thread|post|question|ticket)s?\b"
    r"|\b(?:same|similar|related|like|see|in|of|to) (?:\w+ ){0,3}#\d+"
    r"|(?<!can )\b(?:ignore|disregard) (?:that|this|it)\b"
    r"|\b(?:first|initially|originally|at first) (?:thought|assumed|suspected|guessed|believed)\b"
    r"|\b(?:I|we|which) (?:\w+ )?(?:fixed|solved|resolved)\b|(?<!not )\b(?:went away|(?:is|are) gone)\b"
    r"|\b(?:not|n['’]t) (?:happen|occur|appear|come up) any ?more\b|\bno longer (?:happens|occurs|appears)\b"
    r"|\b(?:used to|[Pp]reviously|[Ii]n the past|[Bb]efore (?:up|down)(?:grad|dat)ing)\b"
    r"|\b(?:has|have|had) been (?:fixed|mended|repaired|replaced|resolved|solved)\b"
    r"|\bwould (?:then )?(?:expect|have|see|get|fail|be)\b|\bunlikely\b"
    r"|\b(?:as expected|(?:like|want) to avoid|not what)\b"
    r"|\bnot (?:the|an?) (?:\w+ )?(?:case|problem|reason|cause|issue|culprit)\b"
    r"|\bcan(?:['’]t|not) be (?:it|the|an?)\b"
)
"""Regex for what others met or might meet, or what the author had supposed, had mended or rules out."""
_DOUBTED = lazy_regex(
    r"\b(?:no|not|never|none|nor|neither|without|maybe|perhaps|might|whether|already tried)\b|n['’]t\b"
    r"|\b(?:thought|think|suspect|guess|assum)(?:e|ed|ing|s)?\b|\b(?:could|may) be\b|\be\.g\.|\bfor example\b"
)
_ANOTHER_POST = lazy_regex(r"https?://[^\s)>\]]+/(?:issues|pull|questions|discussions|t|topic)/[^\s)>\]]*\d")
_MET = lazy_regex(
    r"(?i:(?<![\w-])(?:I|it|we|you|which|then|now|always|still|only|but|and|job|training|script|program|code|process"
    r"|worker|chief|run|error|message)\b[^\w.]+(?:[\w']+[^\w.]+){0,2}?(?:gets?|got|getting|see(?:s|ing)?|saw|receive[ds]?"
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
    return _without_doubts(_dedented([line[depth:] for line in bare]))


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


def _without_doubts(lines: Sequence[str]) -> list[str]:
    """Return the lines; in the prose of a post, without sentences about errors that did not occur."""
    fences = accumulate(map(is_fence, lines))
    outside = [count % 2 == 0 and not is_fence(line) for count, line in zip(fences, lines, strict=True)]
    said = [
        is_outside and _PERSON.search(line) is not None and not _is_of_log(line)
        for is_outside, line in zip(outside, lines, strict=True)
    ]
    if not any(said):
        return list(lines)
    return [
        _asserted(line, by_person=by_person or _LISTED.match(line) is not None) if is_outside else line
        for line, is_outside, by_person in zip(lines, outside, said, strict=True)
    ]


def _is_of_log(line: str) -> bool:
    """Return True for a line that a program printed; prose may quote one."""
    if is_progress(line) or names_error(line) or _OF_PROGRAM.match(line) or head(line, _NO_YEAR):
        return True
    header = header_of(line)
    return header is not None and not line[: header.start()].strip()


def _asserted(line: str, *, by_person: bool) -> str:
    """Return a line without its doubted sentences, if it is prose."""
    doubted = _NOT_HERE.search(line) or (by_person and _DOUBTED.search(line))
    if not (_ANOTHER_POST.search(line) or (doubted and _SENTENCE.match(line))) or _is_of_log(line):
        return line
    return " ".join(each for each in _BETWEEN_SENTENCES.split(line) if not _is_doubted(each))


def _is_doubted(sentence: str) -> bool:
    if _NOT_HERE.search(sentence):
        return True
    doubted = _DOUBTED.search(sentence) or _ANOTHER_POST.search(sentence)
    return doubted is not None and not _MET.search(sentence)


def _begins_log(text: str) -> bool:
    return head(text, _NO_YEAR) is not None or header_of(text) is not None
