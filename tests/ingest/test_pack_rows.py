"""A reader of an installed package that goes wrong costs its file, and the reason says where and what."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from analyzer.ingest.matcher import Matcher
from analyzer.ingest.pack_rows import PackRows, WrongRowError
from analyzer.ingest.source_reader import read_source
from analyzer.model.budget import Budget, Limits
from analyzer.model.messages import NONE
from analyzer.model.run import Source
from analyzer.model.source_kinds import Kind

MODULE = "acme_reader"
SOURCE = Source("acme.txt", Path("acme.txt"), Kind.OTHER, reader=MODULE)
Read = Callable[[PackRows, Matcher], None]
Install = Callable[[Read], None]


@pytest.fixture
def install() -> Iterator[Install]:
    """Return a function that makes a function the reader of `SOURCE`."""

    def install(read: Read) -> None:
        module = ModuleType(MODULE)
        module.read = read  # type: ignore[attr-defined]
        sys.modules[MODULE] = module

    yield install
    del sys.modules[MODULE]


@pytest.mark.parametrize(
    ("table", "cells", "said"),
    [
        ("facts", {"werker": "worker:1"}, "facts has no column `werker`; did you mean `worker`?"),
        ("fact", {"key": "a"}, "`fact` is no table that readers fill; did you mean `facts`?"),
        ("waits", {"worker": "worker:1"}, "`waits` is derived, and no reader adds to it"),
        ("sources", {"kind": "log"}, "`sources` is derived, and no reader adds to it"),
        ("facts", {"worker": "chief7"}, "`worker` of facts is to be a task like `worker:1`"),
        ("facts", {"worker": 1}, "`worker` of facts is to be a task like `worker:1`"),
        ("facts", {"line": "three"}, "`line` of facts is to be a whole number of 64 bits, not `three`"),
        ("facts", {"line": True}, "`line` of facts is to be a whole number of 64 bits, not `True`"),
        ("facts", {"line": 2**64}, "`line` of facts is to be a whole number of 64 bits"),
        ("facts", {"line": 0}, "`line` of facts is to be 1 or more, not `0`"),
        ("facts", {"value": {"x": 1}}, "`value` of facts is to be a text, not `{'x': 1}`"),
        ("facts", {"time": "2026-01-01"}, "`time` of facts is to be seconds since 1970-01-01 UTC"),
        ("facts", {"time": float("nan")}, "`time` of facts is to be seconds since 1970-01-01 UTC, not `nan`"),
        ("scalars", {"value": "0.5"}, "`value` of scalars is to be a number, not `0.5`"),
        ("records", {"kind": "pythn"}, "`kind` of records is to be one of cpp, python, traceback"),
        ("matches", {"overcome": 1}, "`overcome` of matches is to be True or False, not `1`"),
    ],
)
def test_a_wrong_row_is_refused(table: str, cells: dict[str, Any], said: str) -> None:
    """At the call that adds it."""
    output = PackRows(SOURCE)
    with pytest.raises(WrongRowError) as raised:
        output.add(table, **cells)
    assert str(raised.value).startswith(said)
    assert not output.rows


def test_right_rows_are_taken() -> None:
    """Cells that are unknown may be left out or None."""
    output = PackRows(SOURCE)
    output.add("facts", worker="chief:0", line=1, key="acme", value=None)
    output.add("scalars", worker="worker:12", tag="acme", value=2, step=None, time=1.5)
    output.add_damage("ends early", line=7)
    assert [*output.rows] == ["facts", "scalars", "damage"]


def read_one(budget: Budget | None = None) -> tuple[str, str]:
    """Return how the source was read, and why not completely."""
    (output,) = read_source(Matcher([], NONE), SOURCE, budget=budget or Budget())
    return output.read, output.reason


def test_a_wrong_row_costs_the_file(install: Install) -> None:
    """The reason names the module."""
    install(lambda output, _: output.add("facts", werker="worker:1"))
    assert read_one() == (
        "skipped",
        "acme_reader added a wrong row: facts has no column `werker`; did you mean `worker`?",
    )


def test_an_exit_costs_the_file(install: Install) -> None:
    """As an exception does."""

    def read(*_: object) -> None:
        sys.exit(5)

    install(read)
    assert read_one() == ("skipped", "acme_reader failed: SystemExit: 5")


def test_an_endless_reader_ends_with_the_budget(install: Install) -> None:
    """Each row that it adds counts the time that it took."""

    def read(output: PackRows, _: Matcher) -> None:
        while True:
            output.add("facts", key="again", value="a")

    install(read)
    read_as, reason = read_one(Budget(Limits(cpu_seconds=0.05)))
    assert (read_as, "budget of 0.05 s of processor time" in reason) == ("skipped", True)
