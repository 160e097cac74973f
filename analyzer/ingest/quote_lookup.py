"""What stands at given lines of a run's files, as the readers see it: unpacked, and without control codes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path

from analyzer.ingest.logs.collectors import Stream, detect_style, split_streams
from analyzer.ingest.logs.text import Utf8, lines
from analyzer.ingest.scan.blocks import blocks
from analyzer.model.log_template import template_of
from analyzer.model.run import RunDir, Source
from analyzer.model.source_kinds import Kind
from analyzer.storage.decompress import Parts

Lines = Mapping[int, list[str]]
"""Line → the texts that stand there; a line that was redrawn holds several."""

_MOST = 16 << 20
"""Bytes of each log of a good run that are compared; what a run says, it says within them."""
_GOES_ON = 64
"""Lines behind a wanted one that are read too: a collector may have cut it into parts."""


def lines_at(run: RunDir, wanted: Mapping[str, Collection[int]]) -> dict[str, Lines | str]:
    """Source → its wanted lines, or why there are none; `job.log#worker-1` is a stream of a file."""
    files = {source.name: source for source in run.sources}
    return {name: _lines(name, files, set(numbers)) for name, numbers in wanted.items()}


def _lines(name: str, files: Mapping[str, Source], numbers: set[int]) -> Lines | str:
    source = files.get(name) or files.get(name.rpartition("#")[0])
    if source is None:
        return "no such file"
    if source.skip:
        return source.skip
    try:
        found = _streams(source.path, numbers)
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    key = name.removeprefix(f"{source.name}#") if name != source.name else None
    return _texts(found if key is None else [each for each in found if each.key == key], numbers)


def _streams(path: Path, numbers: set[int]) -> list[Stream]:
    """The wanted lines of a file and those that go on with them, apart by origin."""
    whole = blocks(Utf8(Parts(path)))
    first = next(whole, b"")
    style = detect_style(_text(first).split("\n"))
    near = {number + more for number in numbers for more in range(_GOES_ON)}
    return split_streams(list(_numbered(chain([first], whole), near)), style)


def _numbered(whole: Iterable[bytes], near: set[int]) -> Iterator[tuple[int, str]]:
    number = 1
    for block in whole:
        count = block.count(b"\n")
        if any(number <= each <= number + count for each in near):
            numbered = enumerate(_text(block).removesuffix("\n").split("\n"), number)
            yield from (line for line in numbered if line[0] in near)
        number += count


def _text(block: bytes) -> str:
    return block.decode("utf-8", "replace")


def _texts(found: Collection[Stream], numbers: set[int]) -> Lines:
    texts: dict[int, list[str]] = {}
    for stream in found:
        for line in lines((number, text) for number, text in stream.lines if number in numbers):
            texts.setdefault(line.number, []).append(line.text)
    return texts


def masked_lines(run: RunDir) -> frozenset[str]:
    """Every line of the logs of a run, each once, without what differs from run to run."""
    logs = [source for source in run.sources if source.kind is Kind.LOG and not source.skip]
    return frozenset(template_of(text) for source in logs for text in _whole(source))


def _whole(source: Source) -> Iterator[str]:
    with suppress(OSError):  # the good run's own tables name what cannot be read of it
        whole = blocks(Utf8(Parts(source.path)))
        first = next(whole, b"")
        style, read = detect_style(_text(first).split("\n")), 0
        for block in chain([first], whole):
            for stream in split_streams(list(enumerate(_text(block).split("\n"))), style):
                yield from (line.text for line in lines(stream.lines))
            if (read := read + len(block)) > _MOST:
                return
