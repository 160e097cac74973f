"""Parses the frames of tracebacks, and the lines of source code that IPython and rich show around them."""

import re
from collections.abc import Iterator

from analyzer.model.lazy_regex import lazy_regex

_FRAME = lazy_regex(
    r'^\s*(?:\| )?(?:> )?File "(?P<path>[^"]+)", line (?P<line>\d+)(?:, in (?P<name>.+?)(?: +\*{1,2})?)?$'
    r"|^\s*(?P<path9>(?:/|~/|[A-Z]:\\)\S*\.py):(?P<line9>\d+) (?P<name9>\w+)(?: +\*{1,2})?\s*$"
    r"|^File (?P<path8>[^\s\"]+?):(?P<line8>\d+), in (?P<name8>[^(\n]+)\("
    r"|^Cell In\[\d+\], line (?P<cell>\d+)"
    r"|^(?P<path7>(?:/|~|<ipython-input|\w:\\)\S*) in (?P<name7>[\w.<>]+)(?:\([^\n]*)?\n"
    r"(?:(?!-+> )[^\n]+\n)*-+> (?P<line7>\d+)"
    r"|^[│|] (?P<path_boxed>[^\s│|]+\.py):(?P<line_boxed>\d+) in (?P<name_boxed>\S+)",
    re.MULTILINE,
)
_LIBRARY = lazy_regex(
    r"site-packages|dist-packages|/lib/python\d|/python-?\d[\d.]*/lib/|^<(?!ipython|command-)|/runpy\.py$"
    r"|lib-dynload|/(?:pyspark|py4j)[^/]*/"
)
_SHOWN = lazy_regex(r"(?P<runs>-+> ?|[│|] ❱ +)\d+\b| +\d+(?: |$)|[│|] +\d+ [│|]")
"""Regex for a line of source code that IPython or rich shows with its number; `runs`: the one that raised."""


def executed(text: str) -> str:
    """Return a traceback in which code that IPython or rich shows around the executed line is blanked."""
    if "-> " not in text and "❱" not in text:
        return text
    return "\n".join(_executed(text.split("\n")))


def _executed(shown: list[str]) -> Iterator[str]:
    unclosed = 0
    for line in shown:
        source = _SHOWN.match(line)
        if source is None or source["runs"]:
            unclosed = 0
        if source and (source["runs"] or unclosed > 0):
            unclosed += line.count("(") - line.count(")")
        elif source:
            line = " " * len(line)
        yield line


def users_frame(frames: str) -> str | None:
    """Return the deepest frame outside libraries, as `path:line in name`."""
    every = map(_frame, _FRAME.finditer(frames))
    own = [frame for frame in every if not _LIBRARY.search(frame[0])]
    if not own:
        return None
    path, line, name = own[-1]
    return f"{path}:{line}" + (f" in {name}" if name else "")


def _frame(found: re.Match[str]) -> tuple[str, str, str | None]:
    if found["cell"]:
        return "<ipython cell>", found["cell"], None
    for suffix in ("", "7", "8", "9", "_boxed"):
        if found["path" + suffix]:
            return found["path" + suffix], found["line" + suffix], found["name" + suffix]
    raise AssertionError(found)
