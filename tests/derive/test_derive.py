"""All derived tables together."""

from __future__ import annotations

import gc
import weakref

from analyzer.model.schema import TABLES
from tests.derive.logs import derived


def test_every_table_is_there() -> None:
    """Those that were read and those that derive from them, by the names of the schema."""
    assert {*derived({})} == {*TABLES}


def test_the_tables_are_freed_with_their_last_user() -> None:
    """No cycle holds their frames until the garbage collector comes, which the programs rarely let run."""
    gc.disable()
    try:
        tables = derived({})
        assert dict(tables)
        left = weakref.ref(tables)
        del tables
        assert left() is None
    finally:
        gc.enable()
