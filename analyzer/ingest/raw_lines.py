"""Reads log lines that the tables lack: those at given numbers, or all of them as templates."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path

from analyzer.ingest.logs.collectors.line_styles import Style
from analyzer.ingest.logs.collectors.sections import has_headings, is_heading
from analyzer.ingest.logs.collectors.streams import Stream, detect_style, split_streams
from analyzer.ingest.logs.exports import Export, entries_of
from analyzer.ingest.logs.pastes.markdown import LARGEST_PASTE, style_of_paste, unmarked
from analyzer.ingest.logs.text import Utf8, lines
from analyzer.ingest.scan.blocks import split_into_blocks
from analyzer.model.budget import Budget
from analyzer.model.log_layout import is_part
from analyzer.model.log_template import template_of
from analyzer.model.run import RunDir, Source
from analyzer.model.source_kinds import Kind
from analyzer.storage.decompress import Chunks
from analyzer.tables.grouping import grouped

Lines = Mapping[int, list[str]]
"""Line number → texts; a progress bar leaves several on one line."""

_MAX_TEMPLATE_BYTES = 16 << 20
"""Bytes of each log that are read for templates: healthy logs repeat themselves long before that."""
_CONTINUATION_LINES = 64
"""Lines read after a wanted one, because a collector may have split it into parts."""


def lines_at(run: RunDir, wanted: Mapping[str, Collection[int]]) -> dict[str, Lines | str]:
    """Return the requested lines by source, decoded as by the log reader: decompressed, without escapes.

    For a source that cannot be read, the value is the reason. `job.log#worker-1` names one stream of a file.
    """
    files = {source.name: source for source in run.sources}
    return {name: _source_lines(name, files, set(numbers), run.budget) for name, numbers in wanted.items()}


def _source_lines(name: str, files: Mapping[str, Source], numbers: set[int], budget: Budget) -> Lines | str:
    source = files.get(name) or files.get(name.rpartition("#")[0])
    if source is None:
        return "no such file"
    if source.skip:
        return source.skip
    try:
        export = _export(source)
        entries = grouped((line, entry) for entry, line in enumerate(export.numbers, 1))
        numbers = {entry for line in numbers for entry in entries.get(line, ())} if entries else numbers
        found = _streams_near(source.path, export, numbers, budget)
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    key = name.removeprefix(f"{source.name}#") if name != source.name else None
    own = [each for each in found if key in {None, each.key} or (each.key is None and is_part(key))]
    wanted = [text for each in own for text in each.lines if text[0] in numbers]
    begins = export.numbers if entries else range(1, max(numbers, default=0) + 1)
    return grouped((begins[line.number - 1], line.text) for line in lines(wanted))


def entry_lines(run: RunDir, names: Collection[str]) -> dict[str, Sequence[int]]:
    """Return source → the line of the file where each of its entries begins, for those that are exports.

    There is none if several entries may share a line, or the lines are unknown.
    """
    files = {source.name: source for source in run.sources}
    owner = {name: files.get(name) or files.get(name.rpartition("#")[0]) for name in names}
    logs = {each.name: each for each in owner.values() if each and each.kind is Kind.LOG and not each.skip}
    exports: dict[str, Sequence[int]] = {}
    for source in logs.values():
        with suppress(OSError):  # ingest reports unreadable files
            export = entries_of(source.path)
            exports |= {source.name: export.numbers} if export.lines is not None else {}
    return {name: exports[file.name] for name, file in owner.items() if file and file.name in exports}


def _export(source: Source) -> Export:
    """Return the entries of a log that is an export; other kinds of files are read as they are."""
    return entries_of(source.path) if source.kind is Kind.LOG else Export()


def _streams_near(path: Path, export: Export, numbers: set[int], budget: Budget) -> list[Stream]:
    """Split the requested lines, with possible continuation lines, into streams by writer."""
    style, blocks = _blocks(path, export, budget)
    near = {number + more for number in numbers for more in range(_CONTINUATION_LINES)}
    return split_streams(list(_numbered(blocks, near, style)), style)


def _blocks(path: Path, export: Export, budget: Budget) -> tuple[Style | None, Iterator[bytes]]:
    """Return the collector style of a log and its text in blocks, as the log reader sees them.

    An export has one entry per line; a paste has the lines that its programs printed, and is one block.
    """
    entries = export.lines
    encoded = (f"{entry}\n".encode(errors="replace") for entry in entries or ())
    blocks = split_into_blocks(Utf8(Chunks(path, budget)) if entries is None else encoded)
    first = b""
    while len(first) <= LARGEST_PASTE and (block := next(blocks, b"")):
        first += block
    if len(first) > LARGEST_PASTE:
        return detect_style(_text(first).split("\n")), chain([first], blocks)
    bare = unmarked(_text(first).split("\n"))
    return style_of_paste(bare), iter(["\n".join(bare).encode()])


def _numbered(file_blocks: Iterable[bytes], near: set[int], style: Style | None) -> Iterator[tuple[int, str]]:
    """Yield the requested lines and, where the lines of a stream follow its heading, all headings."""
    headings = has_headings(style)
    number = 1
    for block in file_blocks:
        count = block.count(b"\n")
        if headings or any(number <= each <= number + count for each in near):
            for at, line in enumerate(_text(block).removesuffix("\n").split("\n"), number):
                if at in near or (headings and is_heading(style, line)):
                    yield at, line
        number += count


def _text(block: bytes) -> str:
    return block.decode("utf-8", "replace")


def line_templates(run: RunDir, template: Callable[[str], str] = template_of) -> frozenset[str]:
    """Return the distinct templates of all log lines of a run (numbers, paths and addresses masked)."""
    logs = [source for source in run.sources if source.kind is Kind.LOG and not source.skip]
    return frozenset(template(text) for source in logs for text in _all_lines(source, run.budget))


def _all_lines(source: Source, budget: Budget) -> Iterator[str]:
    with suppress(OSError):  # ingest reports unreadable files in the tables of the same run
        (style, blocks), read = _blocks(source.path, _export(source), budget), 0
        for block in blocks:
            for stream in split_streams(list(enumerate(_text(block).split("\n"))), style):
                yield from (line.text for line in lines(stream.lines))
            if (read := read + len(block)) > _MAX_TEMPLATE_BYTES:
                return
