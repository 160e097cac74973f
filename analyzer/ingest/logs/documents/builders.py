"""Output of tests and builds that a tool has marked: by CTest's number of a test, by Buildbot's letters."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from analyzer.ingest.logs.documents import TextLine, parsed_json

_NUMBERED = re.compile(r" *(?P<test>\d{1,5}):(?: (?P<text>.*)|$)")
_BEGINS = re.compile(r" {4,}Start +(?P<test>\d{1,5}): (?P<name>\S+)\s*$")
_LETTERS = ("o", "e", "h")
"""Letters with which Buildbot marks each line: of standard output, of standard error, and its own."""


def read(text: str) -> Sequence[TextLine]:
    """Return the lines of each test under its name, or those of Buildbot's logs without their letters.

    Raises:
        BrokenError: the JSON breaks off.
    """
    if text.lstrip().startswith("{"):
        return [*_of_buildbot(parsed_json(text))]
    lines = text.splitlines()
    names = {begins["test"]: begins["name"] for line in lines if (begins := _BEGINS.match(line))}
    return [*_of_ctest(lines, names)]


def _of_ctest(lines: Sequence[str], names: dict[str, str]) -> Iterator[TextLine]:
    """Yield what the tests printed under `ctest -V`, which counts them from 1 whatever they are called."""
    for number, line in enumerate(lines, 1):
        numbered = _NUMBERED.match(line)
        if numbered and numbered["test"] in names:
            yield TextLine(names[numbered["test"]], numbered["text"] or "", number)


def _of_buildbot(whole: Any) -> Iterator[TextLine]:  # noqa: ANN401 - JSON
    chunks = whole.get("logchunks") if isinstance(whole, dict) else None
    for chunk in chunks if isinstance(chunks, list) else ():
        content = chunk.get("content") if isinstance(chunk, dict) else None
        lines = content.split("\n") if isinstance(content, str) else []
        is_marked = all(line.startswith(_LETTERS) for line in lines if line)
        yield from (TextLine("", line[1:] if is_marked else line) for line in lines)
