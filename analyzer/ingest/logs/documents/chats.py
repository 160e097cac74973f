"""Exports of chats, of Slack, Discord and Telegram, in which somebody posted logs: their messages' lines."""

from collections.abc import Iterator, Sequence
from html import unescape
from typing import Any

from analyzer.ingest.logs.collectors.headings import stream_below
from analyzer.ingest.logs.documents import TextLine, parsed_json

_FENCE = "```"


def read(text: str) -> Sequence[TextLine]:
    """Return the lines of all messages, oldest first; if some have blocks of code, only those of the blocks.

    What stands before a block names the writer of its lines, as in `worker 1:`.

    Raises:
        BrokenError: the text breaks off.
    """
    whole = parsed_json(text)
    messages = whole.get("messages") if isinstance(whole, dict) else whole
    known = [each for each in messages or () if isinstance(each, dict)]
    texts = [_text(each) for each in sorted(known, key=_time)]
    blocks = [line for text in texts for line in _blocks(text)]
    return blocks or [TextLine("", line) for text in texts for line in text.splitlines()]


def _time(message: dict[str, Any]) -> str:
    return str(message.get("ts") or message.get("timestamp") or message.get("date") or "")


def _text(message: dict[str, Any]) -> str:
    """Return the text of a message; Slack escapes what HTML does."""
    if isinstance(text := message.get("text"), str):
        return unescape(text)
    if isinstance(text, list):
        return "".join(map(_part, text))
    return text if isinstance(text := message.get("content"), str) else ""


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
