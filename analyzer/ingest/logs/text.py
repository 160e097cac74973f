"""Bytes → clean lines: encodings, colour codes, carriage returns, backspaces, overlong lines.

A terminal shows the last state of a redrawn line; a log keeps every state. Each state of a progress bar
becomes a line of its own, with the number of the physical line that contains it.
"""

import codecs
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from analyzer.ingest.collapsed_tracebacks import expand
from analyzer.model.lazy_regex import lazy_regex
from analyzer.storage.decompress import wide_codec

MAX_LINE_CHARS = 32_768
"""Maximum length of a line; of a longer one, only its head and tail are kept."""

ESCAPES = lazy_regex(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]P_^X][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
"""Regex for an escape sequence, with its string if terminals do not show that, as Buildkite's times."""
_CONTROLS = re.compile(r"[\x00-\x07\x0b\x0c\x0e-\x1f\x7f]")
_GLUED = re.compile(
    r"(?<=exit code None\. )(?=Traceback \(most recent call last\):)"
    r"|(?<=\S)(?=Traceback \(most recent call last\):"
    r"|(?:WARNING|ERROR|INFO|CRITICAL):(?:tensorflow|absl):"
    r"|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: [IWEF] "
    r"|[IWEF]\d{4} \d\d:\d\d:(?:\d\d\.|\d{9,}\.)\d+ )"
)
"""Regex for where a record of a logger begins behind another text without a line break.

Ray puts the traceback that ended a worker behind its exit code.
"""
_BAR_WITH_MORE = lazy_regex(r"[^|]{0,80}?\d%\|[^|]*\|\s*\d+/\d+ \[[^\]]*\](?=[^\s,;:.)\]])")
"""Regex for a bar of tqdm with a text behind it: tqdm ends its line only at its last step."""
_ESCAPED_REDRAW = "#010#010"
_ESCAPED = lazy_regex(r"(?:#010){2,}(?:#015)?|#015(?= *\d+/\d+ \[)")
"""Regex for backspaces and returns in octal, as rsyslog writes them: so Keras' bars reach CloudWatch."""
_LEVEL_AND_TIME = re.compile(r"[IWEF](?:\d{4} \d| )")
"""Part common to both timestamp formats of TensorFlow."""


class Line(NamedTuple):
    """One line without control codes; `number` is that of the physical line, from 1."""

    number: int
    text: str


def decode(data: bytes) -> str:
    """Decode UTF-8 or UTF-16 with a byte order mark; invalid bytes become U+FFFD."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")


class Utf8:
    """Iterates over chunks of a text, re-encoded as UTF-8; invalid bytes in UTF-8 input stay as they are."""

    def __init__(self, parts: Iterable[bytes]) -> None:
        self._parts = parts
        self.broken_at: int | None = None
        """Offset of the first invalid bytes in a UTF-16 or UTF-32 text (they become U+FFFD), or None."""

    def __iter__(self) -> Iterator[bytes]:
        """Yield the re-encoded chunks."""
        whole = iter(self._parts)
        first = next(whole, b"")
        if codec := wide_codec(first):
            yield from self._narrowed(chain([first], whole), codec)
        else:
            yield first.removeprefix(codecs.BOM_UTF8)
            yield from whole

    def _narrowed(self, whole: Iterable[bytes], codec: str) -> Iterator[bytes]:
        decoder, strict = (codecs.getincrementaldecoder(codec)(errors) for errors in ("replace", "strict"))
        base = 0
        for part in chain(whole, [b""]):
            if self.broken_at is None:
                held = len(strict.getstate()[0])
                try:
                    strict.decode(part, final=not part)
                except UnicodeDecodeError as error:
                    self.broken_at = base - held + error.start
            base += len(part)
            yield decoder.decode(part, final=not part).encode("utf-8", "replace")


def storable(text: str) -> str:
    """Return the text with lone surrogates (which JSON can contain) replaced by question marks."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def lines(numbered: Iterable[tuple[int, str]]) -> Iterator[Line]:
    """Yield every line, and every state of a redrawn one, without control codes."""
    for number, physical in numbered:
        if physical.isprintable() and _ESCAPED_REDRAW not in physical:
            yield from _split_glued(number, shorten(physical.rstrip()))
            continue
        if "\x1b" in physical:
            physical = ESCAPES.sub("", physical)
        for state in _states(physical):
            yield from _split_glued(number, shorten(_CONTROLS.sub("", state).rstrip()))


def _split_glued(number: int, clean: str) -> Sequence[Line]:
    """Return the lines that one physical line holds: records of several loggers, or a whole traceback."""
    if "%|" in clean and (bar := _BAR_WITH_MORE.match(clean)):
        return [Line(number, bar[0]), *_split_glued(number, clean[bar.end() :])]
    if 'File "' in clean or "Traceback (" in clean:
        pieces = [piece for line in expand(clean) for piece in _GLUED.split(line)]
    elif _may_be_glued(clean):
        pieces = _GLUED.split(clean)
    else:
        return (Line(number, clean),)
    return [Line(number, piece) for piece in pieces]


def _may_be_glued(text: str) -> bool:
    """Return False if `_GLUED` cannot match; ten times as fast as trying it."""
    return ":tensorflow" in text or ":absl" in text or _LEVEL_AND_TIME.search(text, 1) is not None


def _states(physical: str) -> list[str]:
    """Return the successive contents of a line redrawn with carriage returns or backspaces."""
    if _ESCAPED_REDRAW in physical:
        physical = _ESCAPED.sub("\r", physical)
    if "\r" not in physical and "\x08" not in physical:
        return [physical]
    states = re.split(r"[\r\x08]+", physical)
    return [state for state in states if state.strip()] or [""]


def shorten(text: str, longest: int = MAX_LINE_CHARS) -> str:
    """Return head and tail of a text that is too long, with the number of characters cut."""
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]} … {len(text) - 2 * half} characters cut … {text[-half:]}"
