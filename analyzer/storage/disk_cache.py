"""Compiled things, kept between calls in the user's own cache directory.

Checking a hundred rule files, or compiling their literals, takes longer than using the result. What is kept
can always be made again: whatever is wrong with it, it is made anew, and a place that cannot be written to
is no error.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from analyzer.storage.package_files import cache_directory

T = TypeVar("T")

MOST_KEPT = 8
"""Things of one kind that are kept; a person uses few."""


def cached(
    kind: str, key: str, make: Callable[[], T], dump: Callable[[T], bytes], load: Callable[[bytes], T]
) -> T:
    """What `make` gives, from the last call that asked for the same `kind` and `key`.

    `key` names all that the result depends on. `load` raises on bytes that `dump` did not write.

    Raises:
        whatever `make` raises.
    """
    folder = cache_directory()
    if folder is None:
        return make()
    file = folder / f"{kind}-{key}"
    with suppress(Exception):  # absent, cut off, or of another version: all mean that it is made anew
        return load(file.read_bytes())
    made = make()
    with suppress(OSError):
        _write(file, dump(made))
        by_age = sorted(folder.glob(f"{kind}-*"), key=lambda each: each.stat().st_mtime_ns, reverse=True)
        for old in by_age[MOST_KEPT:]:
            old.unlink(missing_ok=True)
    return made


def _write(file: Path, content: bytes) -> None:
    """All or nothing, for another process may read it at this moment."""
    fresh = file.with_suffix(f".{os.getpid()}")
    try:
        fresh.write_bytes(content)
        fresh.replace(file)
    finally:
        fresh.unlink(missing_ok=True)
