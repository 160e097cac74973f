"""Pasted text → the lines of its log, without Markdown's marks, cells, indentation and hard spaces.

No line is added or left out, so that each keeps its number.
"""

import re
from collections.abc import Sequence
from html import unescape
from itertools import takewhile

from analyzer.ingest.logs.collectors.line_styles import Style
from analyzer.ingest.logs.collectors.streams import detect_style
from analyzer.ingest.logs.pastes.hard_wraps import joined, refilled, with_frames, with_messages
from analyzer.ingest.logs.pastes.manifests import declared
from analyzer.ingest.logs.pastes.post import printed
from analyzer.ingest.logs.prefixes.heads import head
from analyzer.model.lazy_regex import lazy_regex
from analyzer.model.tracebacks.lines import header_of, names_error

LARGEST_PASTE = 1_000_000
"""Maximum size in bytes of a log that may be a paste; GitHub takes 65,536 characters a comment."""

_FENCE = lazy_regex(
    r"\s{0,3}(?:(?:```+|~~~+)(?P<language>[\w+-]*)|\{(?:noformat|code(?::(?P<of_jira>\w*)[^{}]*)?)\}"
    r"|</?pre\b[^<>]*>(?:<code[^<>]*>)?|</code></pre>|\[/?code\])\s*$"
)
"""Regex for the line above or below a block of code in Markdown, Jira, HTML or BBCode."""
_FIRST = frozenset("`~{<[")
"""First characters of such lines."""
_FENCE_BESIDE_CODE = lazy_regex(r"\s{0,3}```+[^`]+$")
"""Regex for a line above a block of code that has its first line behind the fence, which Markdown hides."""
_OUTPUT = frozenset({"", "bash", "console", "log", "none", "plaintext", "sh", "shell", "text", "txt"})
"""Languages of blocks that hold what programs print, not code."""
_QUOTED = re.compile(r"^>(?!>>| ?File \")(?:>| >)* ?")
"""Markdown's sign of a quotation; a prompt of Python and a frame of loguru begin alike."""
_CODE = re.compile(r"^`(?P<code>[^`]+)`?$")
"""Regex for a line that is code as a whole, or begins code of several lines; other backticks stay."""
_QUOTED_CODE = re.compile(r"`+[^`]+`{0,3}$")
_CELLS = re.compile(
    r"\s*\|[|\s]*(?:\d{4}-)?\d\d-\d\d \d\d:\d\d:\d\d[.,\d]*\s*\|"
    r"(?:\s*(?:DEFAULT|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|ALERT|EMERGENCY)\s*\|)? ?(?P<text>.*)$"
)
"""Regex for a row of a table copied from a log service; lines state their own times, not only the table."""
_TAKEN_FOR_FENCES = frozenset(
    {"'''", "´´´", "\N{LEFT SINGLE QUOTATION MARK}" * 3, "\N{RIGHT SINGLE QUOTATION MARK}" * 3}
)
"""Lines that people write for a fence, with another key than that of the backtick."""
_INDENTED = 4
"""Minimum number of characters by which Markdown's blocks of code are indented."""


def is_fence(text: str) -> bool:
    """Return True if a line opens or closes a block of code, as ``` does in Markdown and {code} in Jira."""
    return text[:4].lstrip(" ")[:1] in _FIRST and _FENCE.match(text) is not None


def begins_output(fence: str) -> bool:
    """Return True if the language in an opening fence, such as ```console, means the output of a program."""
    match = _FENCE.match(fence)
    return match is not None and (match["language"] or match["of_jira"] or "").lower() in _OUTPUT


def unmarked(lines: Sequence[str]) -> list[str]:
    """Return pasted lines as they stood in their log, without quote marks, backticks and indentation."""
    plain = _with_fences([_unquoted(line) for line in lines])
    unquoted = joined(refilled(plain, _quoted(lines)))
    bare = [_without_backticks(line) if line[:1] == "`" else line for line in unquoted]
    depth = min((_depth(line) for line in bare if line.strip()), default=0)
    moved = with_messages(with_frames(_dedented([line[depth:] for line in bare])))
    quoted = [line[:1] == "`" and _is_code(line) for line in unquoted]
    paired = _without_manifests(_paired(moved))
    return printed(paired, [is_fence(line) for line in paired], quoted)


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
    """Return the style of the prefixes in a post; None if its lines have none that is known.

    Blocks of code are tried first, then all lines: headings that name workers stand outside the blocks.
    """
    code = fenced(lines)
    style = detect_style(code)
    return style if style or code is lines else detect_style(lines)


def _quoted(lines: Sequence[str]) -> list[bool]:
    """Return which lines are quoted; Markdown lets a quotation go on without its sign up to a blank line."""
    found: list[bool] = []
    for line in lines:
        goes_on = bool(found) and found[-1] and bool(line.strip()) and not is_fence(line)
        found.append(line[:1] == ">" or goes_on)
    return found


def _unquoted(line: str) -> str:
    line = line.removesuffix("\r").replace("\N{NO-BREAK SPACE}", " ")
    if "&gt;" in line or "&lt;" in line:
        line = unescape(line)
    if "|" in line and (row := _CELLS.match(line)):
        text, bar, rest = row["text"].rpartition("|")
        return text.rstrip() if bar and text[-1:].isspace() and not rest.strip() else row["text"]
    return _QUOTED.sub("", line) if line[:1] == ">" else line


def _with_fences(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines of a post without fences, with the signs as fences that its author took for them."""
    taken = [at for at, line in enumerate(lines) if line.strip() in _TAKEN_FOR_FENCES]
    if not taken or len(taken) % 2 or any(map(is_fence, lines)):
        return lines
    return ["```" if line.strip() in _TAKEN_FOR_FENCES else line for line in lines]


def _without_backticks(line: str) -> str:
    """Return what a line of code says; an error may quote names in backticks of its own."""
    code = line[1:].removesuffix("`")
    return code if line[-1:] == "`" and names_error(code) else _CODE.sub(r"\g<code>", line)


def _is_code(line: str) -> bool:
    """Return True if a line that begins with a backtick is code as a whole."""
    return _QUOTED_CODE.match(line) is not None or (line[-1:] == "`" and names_error(line[1:-1]))


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _dedented(lines: Sequence[str]) -> list[str]:
    """Return the lines, with the indentation removed from blocks that hold a log."""
    moved, depth, follows_blank = [], 0, True
    for at, line in enumerate(lines):
        indented = _depth(line)
        if line.strip():
            if indented < depth:
                depth = 0
            if not depth and follows_blank and indented >= _INDENTED:
                is_code = _holds_log(lines[at:], indented) or _is_lone_error(lines, at)
                depth = indented if is_code else 0
        moved.append(line[depth:])
        follows_blank = not line.strip()
    return moved


def _paired(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines of a post, in which each fence that opens a block of code stands alone.

    Text behind an opening fence on the same line is removed, as Markdown does not show it.
    """
    paired, is_open = list(lines), False
    for at, line in enumerate(lines):
        if is_fence(line):
            is_open = not is_open
        elif line[:6].lstrip(" ")[:3] == "```" and not is_open and _FENCE_BESIDE_CODE.match(line):
            is_open = any(map(is_fence, lines[at + 1 :]))
            paired[at] = "```" if is_open else line
    return paired


def _without_manifests(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines, with those of manifests emptied."""
    if not any("apiVersion: " in line for line in lines):
        return lines
    emptied = frozenset(declared(lines))
    return ["" if at in emptied else line for at, line in enumerate(lines)]


def _holds_log(lines: Sequence[str], depth: int) -> bool:
    """Return True if an indented block is output: its first line, or another of its lines, is of a logger."""
    block = takewhile(lambda line: line.strip() and _depth(line) >= depth, lines)
    loggers = (head(line.strip()) for line in block if _depth(line) == depth)
    return _begins_log(lines[0].strip()) or any(each is not None for each in loggers)


def _is_lone_error(lines: Sequence[str], at: int) -> bool:
    """Return True if a line names an error, and no line above it shows by itself that it was printed.

    What AutoGraph quotes is indented too; the name of an error, or frames, stand above it.
    """
    above = (line for line in lines[:at] if line.strip())
    return names_error(lines[at].strip()) and not any(
        _depth(line) or is_fence(line) or _begins_log(line) or names_error(line) for line in above
    )


def _begins_log(text: str) -> bool:
    return head(text) is not None or header_of(text) is not None
