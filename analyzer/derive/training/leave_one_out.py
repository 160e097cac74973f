"""Compares each worker with all others, in time that grows with their number and not with its square."""

from collections.abc import Hashable, Mapping
from typing import Any, TypeVar

Worker = TypeVar("Worker", bound=Hashable)


def range_of_others(values: Mapping[Worker, Any]) -> dict[Worker, tuple[Any, Any]]:
    """Return worker → (least, largest) value of all other workers; empty if there is only one worker.

    Values are numbers or other comparables of one type.
    """
    if len(values) < 2:
        return {}
    order = sorted(values, key=values.__getitem__)
    first, second, before_last, last = (values[order[at]] for at in (0, 1, -2, -1))
    return {
        worker: (second if worker == order[0] else first, before_last if worker == order[-1] else last)
        for worker in values
    }
