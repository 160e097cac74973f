"""Exports of chats and issues, as of Slack, Discord, Reddit and GitHub, in which somebody posted logs."""

from collections.abc import Iterator, Sequence
from html import unescape
from itertools import groupby
from typing import Any

from analyzer.ingest.logs.collectors.headings import stream_below
from analyzer.ingest.logs.documents import TextLine, parsed_json

_FENCE, _INDENT = "```", "    "
_TIMES = ("date", "createdAt", "created_at", "date_sent", "create_at")
"""Names of the time of an issue, a card or a comment; it is that of all texts in it."""


def read(text: str) -> Sequence[TextLine]:
    """Return the lines of all messages, oldest first; if some have blocks of code, only those of the blocks.

    What stands before a block names the writer of its lines, as in `worker 1:`.

    Raises:
        BrokenError: the text breaks off.
    """
    whole = parsed_json(text)
    messages = whole.get("messages", whole.get("items")) if isinstance(whole, dict) else whole
    known = [each for each in messages or () if isinstance(each, dict)]
    known = [post for each in known for post in (_posts(each) if each.get("kind") == "Listing" else [each])]
    texts = [_text(each) for each in sorted(known, key=_time)]
    blocks = [line for text in texts for line in _blocks(text)]
    if not blocks:
        texts_of_any = sorted(_texts_with_blocks(whole, ""), key=lambda dated: dated[0])
        blocks = [line for _, text in texts_of_any for line in _blocks(text)]
    return blocks or [TextLine("", line) for text in texts for line in text.splitlines()]


def _posts(listing: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the posts and comments in a list of Reddit."""
    data = listing.get("data")
    for child in data.get("children") or () if isinstance(data, dict) else ():
        post = child.get("data") if isinstance(child, dict) else None
        if isinstance(post, dict):
            text = str(post.get("selftext") or post.get("body") or "")
            yield {"text": _fenced(text), "date": post.get("created_utc")}


def _fenced(text: str) -> str:
    """Return a text of Markdown with fences around its blocks of code that are marked by four blanks."""
    parts = groupby(text.splitlines(), key=lambda line: line.startswith(_INDENT))
    blocks = (
        [_FENCE, *(line.removeprefix(_INDENT) for line in lines), _FENCE] if is_code else [*lines]
        for is_code, lines in parts
    )
    return "\n".join(line for block in blocks for line in block)


def _time(message: dict[str, Any]) -> str:
    return str(message.get("ts") or message.get("timestamp") or message.get("date") or "")


def _text(message: dict[str, Any]) -> str:
    """Return the text of a message; Slack and Stack Exchange escape what HTML does."""
    if isinstance(text := message.get("body_markdown"), str):
        return _fenced(unescape(text))
    if isinstance(text := message.get("text"), str):
        return unescape(text)
    if isinstance(text, list):
        return "".join(map(_part, text))
    return text if isinstance(text := message.get("content"), str) else ""


def _texts_with_blocks(value: object, time: str) -> Iterator[tuple[str, str]]:
    """Yield (time, text) for each text with a fenced code block in a JSON value, as of an issue."""
    waiting = [(value, time)]
    while waiting:
        each, time = waiting.pop()
        if isinstance(each, str) and _FENCE in each:
            yield time, each
        elif isinstance(each, list):
            waiting += ((part, time) for part in reversed(each))
        elif isinstance(each, dict):
            time = str(next((each[key] for key in _TIMES if key in each), time))
            waiting += ((part, time) for part in reversed(each.values()))


def _part(part: object) -> str:
    """Return a part of a message of Telegram: a text, or an object with one, a block of code among them."""
    if not isinstance(part, dict):
        return str(part)
    text = str(part.get("text", ""))
    return f"{_FENCE}{text}{_FENCE}" if part.get("type") == "pre" else text


def _blocks(text: str) -> Iterator[TextLine]:
    """Yield the lines of the blocks of code in a message."""
    stream = ""
    for number, part in enumerate(text.split(_FENCE)):
        if number % 2:
            yield from (TextLine(stream, line) for line in part.strip("\n").splitlines())
        elif title := part.strip().rpartition("\n")[2].rstrip(":"):
            stream = stream_below(f"[{title}]") or stream
