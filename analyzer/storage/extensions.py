"""Installed distributions that extend the analyzer, found by their entry points.

Reading the entry points of all distributions takes longer than a small analysis; the result is cached until
a distribution is installed or removed.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from analyzer.storage.disk_cache import cached

RULES, READERS = "mwms_analyze.rules", "mwms_analyze.readers"
"""Groups of entry points: packages of rule files, and modules that read a kind of file."""


class Extension(NamedTuple):
    """An entry point: `value` is the package with rule files, or the module of a reader."""

    group: str
    name: str
    value: str
    distribution: str
    version: str

    @property
    def title(self) -> str:
        """Return name and version of the distribution."""
        return f"{self.distribution} {self.version}"


def extensions(group: str) -> list[Extension]:
    """Return the entry points of one of the groups, ordered by distribution."""
    return [each for each in _all() if each.group == group]


def package_folder(module: str) -> Path | None:
    """Return the directory of a package, found without importing it; None if there is none."""
    from importlib.util import find_spec

    top, *rest = module.split(".")
    spec = find_spec(top)
    places = (spec and spec.submodule_search_locations) or ()
    return next((folder for place in places if (folder := Path(place, *rest)).is_dir()), None)


@cache
def _all() -> tuple[Extension, ...]:
    """Return all entry points of both groups; those of the current directory do not count."""
    places = [place for place in sys.path if place and not _is_here(place)]
    states = [f"{place} {state.st_mtime_ns}" for place in places if (state := _state(place))]
    key = sha256("\0".join(states).encode("utf-8", "surrogateescape")).hexdigest()[:24]
    return cached("extensions", key, lambda: _search(places), _dumped, _loaded)


def _is_here(place: str) -> bool:
    with suppress(OSError):
        return os.path.samefile(place, os.curdir)  # noqa: PTH121 - at each start
    return False


def _state(place: str) -> os.stat_result | None:
    with suppress(OSError):
        return os.stat(place)  # noqa: PTH116 - at each start
    return None


def _dumped(found: tuple[Extension, ...]) -> bytes:
    return json.dumps(found).encode()


def _loaded(content: bytes) -> tuple[Extension, ...]:
    return tuple(Extension(*each) for each in json.loads(content))


def _search(places: list[str]) -> tuple[Extension, ...]:
    from importlib.metadata import distributions

    found = {
        Extension(point.group, point.name, point.value, each.name, each.version)
        for each in distributions(path=places)
        for point in each.entry_points
        if point.group in {RULES, READERS}
    }
    return tuple(sorted(found, key=lambda each: (each.distribution, each.group, each.name)))
