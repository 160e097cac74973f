"""Caches compiled rules and matchers in the user's cache directory.

Checking a hundred rule files, or compiling their literals, takes longer than using the result. Entries can
always be made again: a damaged one is replaced, and a directory that cannot be written to is no error.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from analyzer.storage.atomic_write import write_atomically
from analyzer.storage.package_files import cache_directory

T = TypeVar("T")

MAX_ENTRIES = 8
"""Number of entries that are kept of each kind."""


def cached(
    kind: str, key: str, make: Callable[[], T], dump: Callable[[T], bytes], load: Callable[[bytes], T]
) -> T:
    """Return the cached value for `kind` and `key`, or make and cache it.

    `key` must name everything that the value depends on. `load` must raise on bytes that `dump` did not
    write. Raises whatever `make` raises.
    """
    folder = cache_directory()
    if folder is None:
        return make()
    file = folder / f"{kind}-{key}"
    with suppress(Exception):  # absent, truncated, or of another version: each means that it is made anew
        return load(file.read_bytes())
    made = make()
    with suppress(OSError):
        write_atomically(file, dump(made))
        _remove_oldest(folder, kind)
    return made


def cached_yaml(file: Path) -> Any:  # noqa: ANN401 - whatever the file holds
    """Return the contents of a YAML file of the package, cached: importing the parser alone takes 10 ms."""

    def parse() -> Any:  # noqa: ANN401
        import yaml

        return yaml.safe_load(file.read_text(encoding="utf-8"))

    state = file.stat()
    key = sha256(f"{file} {state.st_mtime_ns} {state.st_ctime_ns} {state.st_size}".encode()).hexdigest()[:24]
    return cached(file.stem, key, parse, lambda made: json.dumps(made).encode(), json.loads)


def _remove_oldest(folder: Path, kind: str) -> None:
    entries = sorted(folder.glob(f"{kind}-*"), key=lambda entry: entry.stat().st_mtime_ns, reverse=True)
    for old in entries[MAX_ENTRIES:]:
        old.unlink(missing_ok=True)
