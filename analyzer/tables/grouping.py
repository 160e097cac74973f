"""Groups pairs by their first member."""

from collections.abc import Iterable
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


def grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """Return key → its values; keys and values keep the order of the pairs."""
    found: dict[Key, list[Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def only_values(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, Value]:
    """Return key → its value, for the keys that have no two different values."""
    return {key: values[0] for key, values in grouped(pairs).items() if len({*values}) == 1}
