"""Files in which logs are texts of another format: JSON and YAML by name, chats, pages, notebooks, frames."""

import json
from codecs import BOM_UTF8
from collections.abc import Sequence
from importlib import import_module
from json import JSONDecodeError
from pathlib import Path
from typing import Any, NamedTuple

from analyzer.ingest.reader_output import flaws, is_too_dense
from analyzer.model.lazy_regex import lazy_regex

MAX_BYTES = 8 << 20
"""Size limit of such a file, which must be held in memory; none of them is written by a collector."""


class NoLogsError(ValueError):
    """A document holds no log; the message says what is missing."""


class BrokenError(ValueError):
    """A document cannot be parsed to its end; the message says what it is."""


class TextLine(NamedTuple):
    """A line of a log in a document; `stream` names its writer, and is empty if the document does not."""

    stream: str
    text: str
    number: int = 0
    """The line of the file, from 1, where it begins; 0 if unknown."""


class Logs(NamedTuple):
    """The log lines found in a document, and what is damaged in it; both are empty for other files."""

    lines: Sequence[TextLine] = ()
    damage: str = ""


_OPENINGS = {
    "ansible": lazy_regex(
        rb"(?:(?!\{)[^\n]*\n){0,200}?(?:ok|changed|fatal|failed): \[[\w.-]+(?: -> [^\]\n]+)?\][^\n{]* => \{"
        rb"|[\w.-]+ \| (?:CHANGED|SUCCESS|FAILED) \| rc=-?\d{1,3} \| \(stdout\) "
    ),
    "chats": lazy_regex(
        rb'\s*\[\s*\{(?:\s*"\w+"\s*:\s*"[^"\n]{0,400}"\s*,){0,8}?'
        rb'\s*"(?:type"\s*:\s*"message|ts"\s*:\s*"\d{10}\.\d{6})"|\s*\{\s*"guild"\s*:\s*\{|\s*\[\s*\{\s*"kind"\s*:\s*"Listing"'
        rb'|\s*(?!\{\s*"(?:cells|metadata|nbformat)"\s*:)[\[{][\s\S]*?```\w{0,12}\\n'
        rb'|\s*\{\s*"name"\s*:\s*"[^"\n]{0,200}"\s*,\s*"type"\s*:\s*"(?:private|public|personal|saved|bot)_'
        rb'|\s*\{\s*"items"\s*:\s*\[[\s\S]{0,4000}?"body_markdown"\s*:'
    ),
    "pages": lazy_regex(
        rb"(?i)\s*(?:<!doctype html|<html|<pre|<\?xml|<p|<h[1-6]|<div|<ac:structured-macro)\b"
    ),
    "python_values": lazy_regex(rb"\s*(?:\{\s*'[^'\n]{1,200}'\s*:|\[\s*')"),
    "casts": lazy_regex(rb'\{"version": ?[23], [^\n]{0,2000}\}\r?\n\['),
    "ttyrec": lazy_regex(rb"[\0-\xff]{3}[\x3a-\xff][\0-\xff]{2}[\0-\x0f]\0[\0-\xff]{2}\0\0(?![\0-\x06])"),
    "notebooks": lazy_regex(
        rb'\s*\{\s*"(?:cells|metadata|nbformat)"\s*:[\s\S]*?"(?:cell_type|nbformat_minor)"\s*:'
    ),
    "frames": lazy_regex(
        rb'\s*\{\s*"(?:File"\s*:\s*"[^"\n]{1,200}"\s*,\s*"Offset"\s*:\s*\d'
        rb'|Offset"\s*:\s*\d+\s*,\s*"(?:Data|File)"\s*:\s*")'
    ),
    "builders": lazy_regex(
        rb'\s*\{\s*"logchunks"\s*:\s*\[|(?:[^\n]*\n){0,40}?test (?P<test>\d{1,5})\r?\n {4,}Start +(?P=test): '
    ),
    "named_json": lazy_regex(rb'\s*(?:\{\s*"[^"\n]{1,200}"\s*:|\[\s*["{])'),
    "rich_text": lazy_regex(rb"\{\\rtf\d"),
    "patches": lazy_regex(rb"(?:(?!diff )[^\n]*\n){0,60}?(?:diff --git |--- [^\n]+\n\+\+\+ [^\n]+\n@@ )"),
    "panes": lazy_regex(rb"(?:[^\n\xe2]*\xe2\x94\x82[^\n]*\n){4}"),
    "named_yaml": lazy_regex(
        rb"(?:---[^\n]*\n)?(?:#[^\n]*\n)*"
        rb"(?:[\w./@-]{1,200}:[ \t]*(?:[|>][-+\d]*)?[ \t]*\r?\n(?:[ \t]|-)|- "
        rb"|apiVersion: v1\r?\n(?:(?:kind|metadata|[ \t]+[\w.\"-]+):[^\n]*\n){0,99}data:\r?\n)"
    ),
}
"""Module that reads a format → regex for the first bytes of its files; the first one that matches counts."""


def logs_in(path: Path, opening: bytes) -> Logs:
    """Return the logs in a document, recognized by its first bytes; none if the file is no document.

    Raises:
        OSError: the file cannot be read.
        NoLogsError: the document holds no log.
    """
    opening = opening.removeprefix(BOM_UTF8)
    module = next((name for name, regex in _OPENINGS.items() if regex.match(opening)), None)
    if module is None or path.stat().st_size > MAX_BYTES:
        return Logs()
    data = path.read_bytes().removeprefix(BOM_UTF8)
    text = data.decode("utf-8", "surrogateescape" if module == "ttyrec" else "replace")
    try:
        lines = import_module(f"analyzer.ingest.logs.documents.{module}").read(text)
    except BrokenError as error:
        return Logs(damage=f"{error}, read as lines")
    damage = next((what for what, _ in flaws(data, text)), "") if lines else ""
    return Logs(lines, damage)


def parsed_json(text: str) -> Any:  # noqa: ANN401 - JSON
    """Return the value of a JSON text; None if it is not a single value, as a file with an object a line.

    Raises:
        BrokenError: it breaks off or is damaged.
    """
    try:
        return None if is_too_dense(text.encode()) else json.loads(text)
    except JSONDecodeError as error:
        if error.msg == "Extra data":
            return None
        raise BrokenError("broken JSON") from error
    except (ValueError, RecursionError):
        return None
