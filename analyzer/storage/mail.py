"""Mails as mail programs save them, one a file (`.eml`) or many (`.mbox`): their attachments and texts.

A page that a browser saved as one file (`.mhtml`) has the form of a mail whose parts come from addresses.
"""

import re
from collections import Counter
from collections.abc import Iterator
from email import message_from_bytes
from email.message import Message
from html import unescape
from pathlib import Path, PurePosixPath

from analyzer.model.source_kinds import Kind, kind_by_opening

MAX_BYTES, MAX_LINES = 32 << 20, 2_000_000
"""Limits of a file of mails; its lines are held in memory, each as an object."""
_TEXT, _PAGE = "text.txt", "page.html"
"""Names of a mail's own text, and of a saved page."""
_LOOKED_AT = 20_000
"""Bytes of a text in which lines of known loggers are looked for."""
_NEXT_MAIL = re.compile(rb"(?:\A|(?<=\n))From \S+ [^\n]*\d{4}\r?\n")
"""Regex for the line before each mail of an mbox."""
_ESCAPED_FROM = re.compile(rb"^>(?=>*From )", re.MULTILINE)
_LINE_END = re.compile(r"<(?:br\b[^<>]*|/(?:p|div|tr|pre))>")
_TAG = re.compile(r"<[^<>]{1,2000}>")


def mail_parts(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each attachment and text of the mails in a file, each name once.

    The text of a mail with attachments counts only if it has lines of a log; one in HTML only if the mail has
    no other.

    Raises:
        OSError: the file cannot be read, or is too large.
    """
    if path.stat().st_size > MAX_BYTES:
        raise OSError(f"mails of more than {MAX_BYTES} bytes")
    data = path.read_bytes()
    if data.count(b"\n") > MAX_LINES:
        raise OSError(f"mails of more than {MAX_LINES} lines")
    used: Counter[str] = Counter()
    mails = _mails(data)
    for number, mail in enumerate(mails, 1):
        for name, content in _parts(message_from_bytes(mail)):
            own = f"mail {number}/{name}" if len(mails) > 1 else name
            used[own] += 1
            yield own if used[own] == 1 else f"part {used[own]}/{own}", content


def _mails(data: bytes) -> list[bytes]:
    """Return each mail of an mbox, or the only one of another file."""
    if not data.startswith(b"From "):
        return [data]
    return [_ESCAPED_FROM.sub(b"", mail) for mail in _NEXT_MAIL.split(data) if mail.strip()]


def _parts(mail: Message) -> list[tuple[str, bytes]]:
    """Return name and content of the attachments, and of the text if it counts."""
    leaves = [part for part in mail.walk() if not part.is_multipart()]
    named = [(PurePosixPath(name).name, _content(part)) for part in leaves if (name := part.get_filename())]
    own = [part for part in leaves if not part.get_filename()]
    pages = [part for part in own if part["Content-Location"] and part.get_content_type() == "text/html"]
    if pages:
        return [*named, (_PAGE, _text(pages[0]).encode())]
    texts = [_text(part) for part in own if part.get_content_type() == "text/plain"]
    texts = texts or [_of_html(_text(part)) for part in own if part.get_content_type() == "text/html"]
    written = "\n".join(text for text in texts if text.strip()).encode()
    return [*named, *([(_TEXT, written)] if written and (not named or shows_log(written)) else [])]


def shows_log(text: bytes) -> bool:
    """Return True if a text begins with lines of known loggers, or has them soon."""
    return kind_by_opening(text[:_LOOKED_AT], [Kind.LOG]) is Kind.LOG


def _content(part: Message) -> bytes:
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def _text(part: Message) -> str:
    charset = part.get_content_charset() or "utf-8"
    try:
        text = _content(part).decode(charset, "replace")
    except LookupError:
        text = _content(part).decode("utf-8", "replace")
    return text.replace("\r\n", "\n")


def _of_html(page: str) -> str:
    """Return the text of a page; a paragraph ends a line."""
    return unescape(_TAG.sub("", _LINE_END.sub("\n", page)))
