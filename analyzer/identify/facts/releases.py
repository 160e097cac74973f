"""Infers the TensorFlow and Python versions of workers from their package lists."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from analyzer.identify.statements import NamedSource
from analyzer.model.source_kinds import Kind
from analyzer.tables.builders import frame, joined

_PACKAGES = {
    "tensorflow": (
        "tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tensorflow-intel", "tensorflow-rocm",
        "intel-tensorflow", "tensorflow-aarch64", "tensorflow-cpu-aws", "tensorflow-macos", "tensorflow-base",
    ),
    "python": ("python",),
}  # fmt: skip
"""Key of a fact → packages whose version is its value; the first one that is listed counts."""
_RELEASE = re.compile(r"[1-3]\.\d{1,2}\.\d{1,2}(?:-?rc\d+)?")


def with_releases(facts: pl.DataFrame, sources: Sequence[NamedSource]) -> pl.DataFrame:
    """Return the facts plus versions from package lists, for the workers that state no versions."""
    lists = [source.name for source in sources if source.kind == Kind.PACKAGES.value]
    return joined("facts", [facts, frame("facts", _releases(facts, lists))]) if lists else facts


def _releases(facts: pl.DataFrame, lists: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    keys = [f"package:{name}" for names in _PACKAGES.values() for name in names]
    wanted = facts.filter(pl.col("key").is_in([*_PACKAGES, *keys]))
    rows = list(wanted.iter_rows(named=True))
    for key, names in _PACKAGES.items():
        stating = {(row["worker"], row["attempt"]) for row in rows if row["key"] == key}
        for source in lists:
            listed = {row["key"].partition(":")[2]: row for row in rows if row["source"] == source}
            release = next((found for name in names if (found := _release(listed.get(name)))), None)
            if release and (release["worker"], release["attempt"]) not in stating:
                yield {**release, "key": key}


def _release(row: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return a package's row with only the release number as value, e.g. `2.15.0`; None if there is none."""
    version = _RELEASE.match(row["value"]) if row else None
    return {**row, "value": version[0]} if row and version else None
