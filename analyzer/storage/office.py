"""Reads the text of office documents into which somebody pasted a log: `.odt` and `.docx`."""

import re
import zipfile
from html import unescape
from pathlib import Path

from analyzer.storage.mail import shows_log

MAX_BYTES = 32 << 20
"""Size limit of the text of a document, which is held in memory."""
_LOG, _OTHER = "text.txt", "document"
"""Names of the text of a document that is a log, and of any other."""
_TEXTS = ("content.xml", "word/document.xml")
_END = re.compile(r"</(?:text:(?:p|h)|w:p)>|<text:line-break\b[^<>]{0,200}>|<w:br\b[^<>]{0,200}>")
"""Regex for where a line ends: with its paragraph, or at a break in it."""
_BLANKS = re.compile(r"<text:s\b(?:[^<>]{0,200}?\btext:c=\"(?P<count>\d{1,3})\")?[^<>]{0,200}>")
_TAB = re.compile(r"<(?:text:tab|w:tab)\b[^<>]{0,200}/>")
_TAG = re.compile(r"<[^<>]{1,4000}>")
_BREAKS = re.compile(r"[\r\n]+\s*")


def name_of(text: bytes) -> str:
    """Return the name under which the text of a document is a source: a report beside logs is none."""
    return _LOG if shows_log(text) else _OTHER


def text_of(path: Path) -> bytes:
    """Return the paragraphs of a document, each as a line.

    Raises:
        OSError: the file cannot be read, is no such document, or is too large.
    """
    try:
        with zipfile.ZipFile(path) as packed:
            name = next((each for each in _TEXTS if each in packed.namelist()), None)
            if name is None or packed.getinfo(name).file_size > MAX_BYTES:
                raise OSError("no text of a document" if name is None else f"more than {MAX_BYTES} bytes")
            with packed.open(name) as file:
                shown = file.read(MAX_BYTES).decode("utf-8", "replace")
    except zipfile.BadZipFile as error:
        raise OSError(str(error)) from error
    lines = _TAB.sub("\t", _END.sub("\0", _BREAKS.sub("", shown)))
    spaced = _BLANKS.sub(lambda blanks: " " * int(blanks["count"] or 1), lines)
    return unescape(_TAG.sub("", spaced)).replace("\0", "\n").encode()
