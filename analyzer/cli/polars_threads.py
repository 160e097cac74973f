"""Limits the number of polars threads; polars reads the setting only when it is imported."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

SMALL_RUN_BYTES = 32 << 20
"""Largest total size in bytes of the files for which one polars thread is faster than several."""
_VARIABLE = "POLARS_MAX_THREADS"


def limit_polars_threads(paths: Sequence[Path]) -> None:
    """Limit polars to one thread for a small run, unless the user has set the number of threads."""
    if _VARIABLE not in os.environ and "polars" not in sys.modules and _is_small(paths):
        os.environ[_VARIABLE] = "1"


def _is_small(paths: Iterable[Path]) -> bool:
    total = 0
    for path in paths:
        for size in _sizes(path):
            total += size
            if total > SMALL_RUN_BYTES:
                return False
    return True


def _sizes(path: Path) -> Iterator[int]:
    """Yield the size in bytes of each readable file at or below a path."""
    below = (os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)  # noqa: PTH118 - faster
    for file in below if path.is_dir() else [path]:
        with suppress(OSError):
            yield os.stat(file).st_size  # noqa: PTH116
