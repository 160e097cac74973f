"""Joins files that come in several parts: archives that were split for sending, and pages of Loki's answers.

`logs.tar.gz.partaa` and `logs.zip.001` are parts of an archive. Loki answers with a few thousand lines;
`loki-0.json` and `loki-1.json` are pages of one query if they have lines of the same streams.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from analyzer.model.budget import Budget
from analyzer.model.run import Source
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import is_archive, natural_order, worker_of

_PART = re.compile(r"(?P<whole>.+?)[.-]?(?:part)?[-_.]?(?P<number>[a-z]{2,3}|\d{2,3})$")
"""Regex for a part of an archive, as `split` names it, with letters or numbers, or 7-Zip."""
_FIRST = re.compile(r"a+|0+1?")
_PAGE = re.compile(r"(?P<before>(?:.*/)?[^/]*?)\d{1,5}(?P<after>[^/\d]*\.json)$")
_OF_LOKI = re.compile(rb'\s*\{[^\[]{0,80}"resultType"\s*:\s*"streams"')
_OPENING_BYTES = 200
_MAX_PAGE_BYTES = 8 << 20


def parts_of(sources: Iterable[Source]) -> list[tuple[str, Sequence[Source]]]:
    """Return (name, parts in order) of each file that comes in several parts."""
    archives: defaultdict[str, list[Source]] = defaultdict(list)
    pages: defaultdict[str, list[Source]] = defaultdict(list)
    for source in sources:
        if source.skip or is_archive(source.path):
            continue
        if (match := _PART.match(source.name)) and is_archive(Path(match["whole"])):
            archives[match["whole"]].append(source)
        elif (match := _PAGE.match(source.name)) and worker_of(source.name, Kind.OTHER) is None:
            pages[f"{match['before']}*{match['after']}"].append(source)
    split = [(whole, sorted(parts, key=lambda part: part.name)) for whole, parts in archives.items()]
    found = [(whole, parts) for whole, parts in split if _begins(parts)]
    return [*found, *((name, _in_turn(own)) for name, own in pages.items() if _are_pages(own))]


def with_whole(
    sources: Mapping[Path, Source],
    split: Iterable[tuple[str, Sequence[Source]]],
    scratch: Path,
    budget: Budget,
) -> dict[Path, Source]:
    """Return the sources with the parts of each file replaced by the whole file, joined in `scratch`."""
    found = dict(sources)
    for number, (name, parts) in enumerate(split):
        for part in parts:
            del found[part.path]
        target = scratch / f"whole-{number}-{Path(name).name}"
        kind = Kind.OTHER if is_archive(Path(name)) else Kind.LOG
        found[target] = Source(name, target, kind, skip=_joined(parts, target, budget))
    return found


def _joined(parts: Sequence[Source], target: Path, budget: Budget) -> str:
    """Join parts into one file, each page on a line of its own; return the error in words, or ''."""
    try:
        with target.open("wb") as whole:
            for part in parts:
                budget.spend(part.path.stat().st_size)
                with part.path.open("rb") as file:
                    while chunk := file.read(1 << 20):
                        whole.write(chunk)
                if not is_archive(target):
                    whole.write(b"\n")
    except OSError as error:
        return f"cannot be joined: {error.strerror or error}"
    return ""


def _begins(parts: Sequence[Source]) -> bool:
    """Return True if there are several parts, and the first of them begins an archive."""
    match = _PART.match(parts[0].name)
    return len(parts) > 1 and match is not None and _FIRST.fullmatch(match["number"]) is not None


def _in_turn(pages: Sequence[Source]) -> list[Source]:
    return sorted(pages, key=lambda page: natural_order(page.name))


def _are_pages(sources: Sequence[Source]) -> bool:
    """Return True for several answers of Loki, each of which has a stream of another one."""
    if len(sources) < 2 or not all(map(_is_of_loki, sources)):
        return False
    streams = [_streams(source.path) for source in sources]
    return all(any(own & other for other in streams if other is not own) for own in streams)


def _is_of_loki(source: Source) -> bool:
    try:
        with source.path.open("rb") as file:
            opening = file.read(_OPENING_BYTES)
        is_small = source.path.stat().st_size <= _MAX_PAGE_BYTES
    except OSError:
        return False
    return is_small and _OF_LOKI.match(opening) is not None


def _streams(path: Path) -> frozenset[str]:
    """Return the labels of the streams in an answer of Loki; none of a broken one."""
    try:
        found = json.loads(path.read_bytes())["data"]["result"]
        return frozenset(json.dumps(each["stream"], sort_keys=True) for each in found)
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return frozenset()
