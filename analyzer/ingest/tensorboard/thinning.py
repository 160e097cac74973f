"""Chooses which of too many scalars of an event file are kept."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

from analyzer.tables.grouping import grouped

MAX_SCALARS = 200_000
"""Maximum number of scalars from all event files of a run: about 100 MB in all later stages."""
MIN_SCALARS = 400
"""Number of scalars that each file may have, however many files there are."""
MAX_TAGS = 2_000
"""Maximum number of tags of a file; a model with a curve for each of its layers has hundreds."""
_PER_STRETCH = 6
_Array = Any
"""An array of numpy, which is imported only when it is used."""


def max_tags(limit: int) -> int:
    """Return the maximum number of tags to read from a file of which `limit` scalars may be kept."""
    return min(MAX_TAGS, limit // _PER_STRETCH)


def kept_rows(tags: Sequence[str], values: Sequence[float], limit: int) -> list[int]:
    """Return the numbers of the rows to keep, in order: at most about `limit`, of the first tags.

    The values of a tag are cut into stretches of equal length. Of each stretch the first, the last, the
    least and the largest value are kept, and the first and the last that is not finite.
    """
    rows = grouped((tag, row) for row, tag in enumerate(tags))
    chosen = list(islice(rows.values(), max_tags(limit)))
    stretches = max(1, limit // _PER_STRETCH // len(chosen))
    kept = [row for own in chosen for row in _kept_of_tag(own, values, stretches)]
    return sorted(kept)


def _kept_of_tag(rows: Sequence[int], values: Sequence[float], stretches: int) -> Sequence[int]:
    if len(rows) <= stretches * _PER_STRETCH:
        return rows
    import numpy as np

    size = -(-len(rows) // stretches)
    numbers = np.array([values[row] for row in rows])
    padding = np.full(-len(rows) % size, numbers[-1])
    numbers = np.concatenate([numbers, padding]).reshape(-1, size)
    kept = np.arange(0, numbers.size, size) + _kept_of_stretches(numbers)
    joined: list[int] = np.array(rows)[np.unique(kept.clip(max=len(rows) - 1))].tolist()
    return joined


def _kept_of_stretches(numbers: _Array) -> _Array:
    """Return an array (6, stretches): the offsets of the values to keep in each stretch.

    `numbers` has a row per stretch. The six are first, last, least, largest, first and last non-finite value.
    """
    import numpy as np

    finite = np.isfinite(numbers)
    last = np.full(len(numbers), numbers.shape[1] - 1)
    least, largest = np.where(finite, numbers, np.inf), np.where(finite, numbers, -np.inf)
    first_odd, last_odd = (~finite).argmax(axis=1), last - (~finite)[:, ::-1].argmax(axis=1)
    return np.array([last * 0, last, least.argmin(axis=1), largest.argmax(axis=1), first_odd, last_odd])
