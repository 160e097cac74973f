"""Files in which logs are texts of another format: JSON and YAML by name, exports of chats, HTML pages."""

from codecs import BOM_UTF8
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from analyzer.model.lazy_regex import lazy_regex

MAX_BYTES = 8 << 20
"""Size limit of such a file, which must be held in memory; none of them is written by a collector."""


class NoLogsError(ValueError):
    """A document holds no log; the message says what is missing."""


class TextLine(NamedTuple):
    """A line of a log in a document; `stream` names its writer, and is empty if the document does not."""

    stream: str
    text: str


_OPENINGS = {
    "chats": lazy_regex(
        rb'\s*\[\s*\{(?:\s*"\w+"\s*:\s*"[^"\n]{0,400}"\s*,){0,8}?'
        rb'\s*"(?:type"\s*:\s*"message|ts"\s*:\s*"\d{10}\.\d{6})"|\s*\{\s*"guild"\s*:\s*\{'
    ),
    "pages": lazy_regex(rb"(?i)\s*(?:<!doctype html|<html|<pre)\b"),
    "named_json": lazy_regex(rb'\s*(?:\{\s*"[^"\n]{1,200}"\s*:|\[\s*["{])'),
    "named_yaml": lazy_regex(
        rb"(?:---[^\n]*\n)?(?:#[^\n]*\n)*"
        rb"(?:[\w./@-]{1,200}:[ \t]*(?:[|>][-+\d]*)?[ \t]*\r?\n(?:[ \t]|-)|- )"
    ),
}
"""Module that reads a format → regex for the first bytes of its files; the first one that matches counts."""


def logs_in(path: Path, opening: bytes) -> Sequence[TextLine]:
    """Return the lines of the logs in a document with these first bytes; none if it is no such document.

    Raises:
        OSError: the file cannot be read.
        NoLogsError: it is such a document, and holds no log.

    """
    opening = opening.removeprefix(BOM_UTF8)
    module = next((name for name, regex in _OPENINGS.items() if regex.match(opening)), None)
    if module is None or path.stat().st_size > MAX_BYTES:
        return ()
    found: Sequence[TextLine] = import_module(f"analyzer.ingest.logs.documents.{module}").read(
        path.read_bytes().removeprefix(BOM_UTF8)
    )
    return found
