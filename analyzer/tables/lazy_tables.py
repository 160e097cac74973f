"""Tables that are computed when they are first asked for: one rule, or one test, needs few of them."""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

import polars as pl

Derivation: TypeAlias = "Callable[[Mapping[str, pl.DataFrame]], pl.DataFrame]"


class LazyTables(Mapping[str, pl.DataFrame]):
    """Tables by name: those that were read, and those that a function of all tables computes on first use.

    The functions get the tables as an argument: a reference of their own would be a cycle, which keeps large
    frames in memory until the garbage collector finds it.
    """

    def __init__(self, read: Mapping[str, pl.DataFrame], derived: Mapping[str, Derivation]) -> None:
        """Let `derived` replace tables of `read` that have the same name."""
        self._made = {name: table for name, table in read.items() if name not in derived}
        self._derived = derived
        self._names = tuple({**read, **derived})

    def __getitem__(self, name: str) -> pl.DataFrame:
        """Return the table, computed if this is its first use."""
        if name not in self._made:
            self._made[name] = self._derived[name](self)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names of all tables."""
        return iter(self._names)

    def __len__(self) -> int:
        """Return the number of tables."""
        return len(self._names)
