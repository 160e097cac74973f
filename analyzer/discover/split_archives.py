"""Archives that somebody split in order to send them: `logs.tar.gz.partaa`, `logs.zip.001`."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from shutil import copyfileobj

from analyzer.model.budget import Budget
from analyzer.model.run import Source
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import is_archive

_PART = re.compile(r"(?P<whole>.+?)[.-]?(?:part)?[-_.]?(?P<number>[a-z]{2,3}|\d{2,3})$")
"""Regex for a part, as `split` names it, with letters or numbers, or 7-Zip."""
_FIRST = re.compile(r"a+|0+1?")


def parts_of(sources: Iterable[Source]) -> list[Sequence[Source]]:
    """Return the parts of each archive that was split, in order; a part alone is none."""
    found: defaultdict[str, list[Source]] = defaultdict(list)
    for source in sources:
        if not source.skip and not is_archive(source.path) and (match := _PART.match(source.name)):
            found[match["whole"]].append(source)
    ordered = (sorted(parts, key=lambda part: part.name) for whole, parts in found.items() if _is(whole))
    return [parts for parts in ordered if len(parts) > 1 and _is_first(parts[0])]


def with_whole(
    sources: Mapping[Path, Source], split: Iterable[Sequence[Source]], scratch: Path, budget: Budget
) -> dict[Path, Source]:
    """Return the sources, with each archive in place of its parts, joined in a scratch directory."""
    found = dict(sources)
    for parts in split:
        for part in parts:
            del found[part.path]
        whole = _joined(parts, scratch, budget)
        found[whole.path] = whole
    return found


def _joined(parts: Sequence[Source], scratch: Path, budget: Budget) -> Source:
    """Return an archive that was split, with the reason to skip it if a part cannot be read."""
    target = scratch / Path(_whole(parts[0])).name
    skip = ""
    try:
        with target.open("wb") as copy:
            for part in parts:
                budget.spend(part.path.stat().st_size)
                with part.path.open("rb") as file:
                    copyfileobj(file, copy)
    except OSError as error:
        skip = f"cannot be joined: {error.strerror or error}"
    return Source(_whole(parts[0]), target, Kind.OTHER, skip=skip)


def _whole(part: Source) -> str:
    match = _PART.match(part.name)
    return match["whole"] if match else part.name


def _is(whole: str) -> bool:
    return is_archive(Path(whole))


def _is_first(part: Source) -> bool:
    match = _PART.match(part.name)
    return match is not None and _FIRST.fullmatch(match["number"]) is not None
