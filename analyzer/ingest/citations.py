"""What stands at given lines of a run's files, as the readers see it: unpacked, and without control codes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress

from analyzer.ingest.collectors import Stream, streams
from analyzer.ingest.packed import unpacked
from analyzer.ingest.text import decode, lines
from analyzer.masks import masked
from analyzer.model import Kind, RunDir, Source

Lines = Mapping[int, list[str]]
"""Line → the texts that stand there; a line that was redrawn holds several."""


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
        found = streams(decode(unpacked(source.path).data))
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    key = name.removeprefix(f"{source.name}#") if name != source.name else None
    return _texts(found if key is None else [each for each in found if each.key == key], numbers)


def _texts(found: Collection[Stream], numbers: set[int]) -> Lines:
    texts: dict[int, list[str]] = {}
    for stream in found:
        for line in lines((number, text) for number, text in stream.lines if number in numbers):
            texts.setdefault(line.number, []).append(line.text)
    return texts


def masked_lines(run: RunDir) -> frozenset[str]:
    """Every line of the logs of a run, each once, without what differs from run to run."""
    logs = [source for source in run.sources if source.kind is Kind.LOG and not source.skip]
    return frozenset(masked(text) for source in logs for text in _whole(source))


def _whole(source: Source) -> Iterator[str]:
    with suppress(OSError):  # the good run's own tables name what cannot be read of it
        for stream in streams(decode(unpacked(source.path).data)):
            yield from (line.text for line in lines(stream.lines))
