"""HTML pages of logs, as consoles of CI servers save them: the lines of what is preformatted.

Python's parser of HTML takes time that grows with the square of a damaged page; tags are enough here.
"""

import re
from collections.abc import Iterator, Sequence
from html import escape, unescape

from analyzer.ingest.logs.collectors.headings import stream_below
from analyzer.ingest.logs.documents import NoLogsError, TextLine
from analyzer.ingest.logs.prefixes.own_beginnings import begins_own_line

_TAG = re.compile(r"<(?P<end>/?)(?P<name>[a-zA-Z][a-zA-Z0-9]{0,20})(?![\w-])[^<>]{0,2000}>")
_PAGE = re.compile(r"(?i)<!doctype html|<html")
_INNER_PAGE = re.compile(r"(?i)\s*<(?:\?xml|!doctype)\b")
_DECLARATION = re.compile(r"<[?!][^<>]{0,2000}>")
_OPENING_CHARS = 2_000
_UNSHOWN = re.compile(r"<(?P<name>script|style|head|nav|header|footer|title)\b", re.IGNORECASE)
"""Regex for the beginning of an element around the log, or of one that is not shown."""
_LINE_NUMBER = re.compile(r"<a\b[^<>]{0,2000}>\s*\d{1,7}\s*</a>", re.IGNORECASE)
_ROW_END = re.compile(r"<(?:br\b[^<>]{0,200}|/(?:div|tr|li|p))>", re.IGNORECASE)
_BETWEEN_CELLS = re.compile(r"</t[dh]>\s*<t[dh]\b[^<>]{0,2000}>", re.IGNORECASE)
_NUMBER = re.compile(r"\A\s*\d{0,7}\t")
"""Regex for the cell with the number of a line, or without text, before the line."""
_MIN_ROWS = 2
"""Rows that TensorFlow or Python began, of a page that shows a log."""
_HEADINGS = frozenset({"title", "h1", "h2", "h3", "h4", "h5", "h6", "summary"})
_INSIDE = frozenset({*_HEADINGS, "a", "pre"})
"""Elements whose text counts, or is told from the text around it."""
_ANSWERS = re.compile(
    r"<(?:div|section|article|ol|ul)\b[^<>]{0,400}?\b(?:id=[\"']answers[\"']"
    r"|class=[\"'](?:[^\"'<>]{0,200}\s)?answers?(?:\s[^\"'<>]{0,200})?[\"']"
    r"|itemprop=[\"'](?:accepted|suggested)Answer[\"'])",
    re.IGNORECASE,
)
"""Regex for the element in which pages of questions and answers begin to show what others answered."""


def read(text: str) -> Sequence[TextLine]:
    """Return the lines of all `pre` elements, or rows; their writer is the task named in a heading above.

    There are none in XML that holds no page.

    Raises:
        NoLogsError: there is no such element.
    """
    is_page = _PAGE.search(text, 0, _OPENING_CHARS) is not None
    text = _with_escaped_blocks(text)
    if "&lt;pre" in text:  # as feeds and trackers have the page of an issue
        text = unescape(text)
    text = _question(text)
    lines = [*_preformatted(text)] or _rows(text)
    if not lines and is_page:
        raise NoLogsError("an HTML page without preformatted text; save the log as text")
    return lines


def _preformatted(page: str) -> Iterator[TextLine]:
    stream = ""
    for element, content in _texts(page):
        if element in _HEADINGS:
            stream = stream_below(f"[{content.strip().rstrip(':')}]") or stream
        elif content.strip():
            yield from (TextLine(stream, line) for line in content.strip("\n").split("\n"))


def _with_escaped_blocks(page: str) -> str:
    """Return a page with blocks in which no character is escaped, as Confluence stores code, as `pre`.

    A block that is a page itself, as Evernote stores a note, becomes its rows.
    """
    first, *blocks = page.split("<![CDATA[")
    parts = [block.partition("]]>") for block in blocks]
    return first + "".join(f"<pre>{escape(_text_of(block))}</pre>{rest}" for block, _, rest in parts)


def _text_of(block: str) -> str:
    """Return the rows of a block that is a page of XML, without tags; any other block as it is."""
    if not _INNER_PAGE.match(block):
        return block
    return unescape(_TAG.sub("", _ROW_END.sub("\n", _DECLARATION.sub("", block))))


def _question(page: str) -> str:
    """Return the question of a page with answers, which may quote errors of other jobs.

    The whole page is returned if the question has no preformatted text, or if there are no answers.
    """
    answers = _ANSWERS.search(page)
    question = page[: answers.start()] if answers else page
    return question if "<pre" in question else page


def _of_log(page: str) -> str:
    """Return a page without the elements around its log; one without an end stays."""
    kept, at = list[str](), 0
    endless: set[str] = set()
    for tag in _UNSHOWN.finditer(page):
        name = tag["name"].lower()
        if tag.start() < at or name in endless:
            continue
        end = re.compile(f"</{name}[^<>]{{0,20}}>", re.IGNORECASE).search(page, tag.end())
        if end is None:
            endless.add(name)
            continue
        kept.append(page[at : tag.start()])
        at = end.end()
    return "".join([*kept, page[at:]])


def _rows(page: str) -> list[TextLine]:
    """Return a line for each row of a page that shows a log as a list of elements; none of any other page."""
    shown = _BETWEEN_CELLS.sub("\t", _LINE_NUMBER.sub("", _of_log(page)).replace("\n", " "))
    texts = unescape(_TAG.sub("", _ROW_END.sub("\n", shown))).split("\n")
    lines = [TextLine("", _NUMBER.sub("", text, count=1).removeprefix(" ").rstrip()) for text in texts]
    begun = sum(begins_own_line(line.text.rpartition("\t")[2].lstrip()) for line in lines)
    return [line for line in lines if line.text.strip()] if begun >= _MIN_ROWS else []


def _texts(page: str) -> Iterator[tuple[str, str]]:
    """Yield name and text of each heading and `pre` element, without numbers of lines that are links."""
    around: list[str] = []
    parts: list[str] = []
    at = 0
    for tag in _TAG.finditer(page):
        text, at = page[at : tag.start()], tag.end()
        if around and not (around[-1] == "a" and text.strip().isdigit()):
            parts.append(text)
        name = tag["name"].lower()
        if name == "br":
            parts.append("\n")
        elif name in _INSIDE and not tag["end"]:
            parts = parts if name == "a" else []
            around.append(name)
        elif name in around:
            while around.pop() != name:
                pass
            if name != "a":
                yield name, unescape("".join(parts))
    if "pre" in around:
        yield "pre", unescape("".join([*parts, page[at:]]))
