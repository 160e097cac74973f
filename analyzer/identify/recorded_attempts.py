"""Finds the attempts of tasks that mwms-recorder recorded several times into one directory.

It appends `.2` to the name of a task's directory if that exists. Without TF_CONFIG the name is the host's,
which two tasks of one host share: only the times of their recordings tell them from one that ran again.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import polars as pl

from analyzer.identify.claims import Claim
from analyzer.identify.statements import NamedSource
from analyzer.model.lazy_regex import lazy_regex
from analyzer.model.source_kinds import Kind

_FURTHER = lazy_regex(r"(?P<first>.+[^./])\.(?P<attempt>\d{1,4})")


class Recording(NamedTuple):
    """A directory with a further recording of a task."""

    first: str
    """Directory of the task's first recording."""
    attempt: int


def further_recordings(sources: pl.DataFrame) -> Mapping[str, Recording]:
    """Return directory → recording, for each that began after the task's earlier recordings had ended."""
    recorded = sources.filter((pl.col("kind") == Kind.RECORDING.value) & pl.col("first_time").is_not_null())
    spans: dict[str, tuple[float, float]] = {}
    for source, first, last in recorded.select("source", "first_time", "last_time").iter_rows():
        folder = _folder(source)
        own = spans.get(folder, (first, last))
        spans[folder] = (min(own[0], first), max(own[1], last))
    ended = {folder: span[1] for folder, span in spans.items()}
    found: dict[str, Recording] = {}
    for folder in sorted(spans, key=spans.__getitem__):
        named = _FURTHER.fullmatch(folder)
        if named and spans[folder][0] >= ended.get(named["first"], float("inf")):
            found[folder] = Recording(named["first"], int(named["attempt"]))
            ended[named["first"]] = ended[folder]
    return found


def with_attempts(sources: Iterable[NamedSource], further: Mapping[str, Recording]) -> list[NamedSource]:
    """Return the sources; those of further recordings get the attempt of the recording."""
    return [
        source._replace(attempt=own.attempt, numbered=True)
        if (own := further.get(_folder(source.name)))
        else source
        for source in sources
    ]


def claims_of_further(
    sources: Iterable[NamedSource], claims: Mapping[str, Claim], further: Mapping[str, Recording]
) -> dict[str, Claim]:
    """Return source → worker for the files of further recordings: the worker of the first one's."""
    of_folder = {_folder(name): claim for name, claim in claims.items()}
    return {
        source.name: of_folder[own.first]
        for source in sources
        if (own := further.get(_folder(source.name))) and own.first in of_folder
    }


def is_among(source: NamedSource, further: Mapping[str, Recording]) -> bool:
    """Return True if the source is a file of one of the recordings."""
    return _folder(source.name) in further


def _folder(name: str) -> str:
    return name.rpartition("/")[0] or "."
