"""Files of exit codes: a line that names a worker says how it ended, or that cannot be read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from analyzer.model.run import Tables
from analyzer.model.source_kinds import Kind
from tests.fuzz.oracles import WIDE, flaw, unsaid
from tests.fuzz.target import Case, Seed, real

_NAMED = re.compile(r"\b(?:worker|chief|ps)[-_:]?\d+\b", re.IGNORECASE)


def seeds() -> Iterable[Seed]:
    """Those of the sample runs, and how other launchers write the same."""
    yield from real(Kind.EXIT_CODES)
    yield Seed("exit_codes.json", json.dumps({f"worker:{n}": n for n in range(9)}, indent=1).encode())
    yield Seed("exit_codes.txt", b"# code of each\nchief=None\nworker-0: -9\nworker-1-attempt-2 1\n")
    yield Seed("worker-3.exit_code", b"137\n")


def wrong(case: Case, tables: Tables) -> Iterator[str]:
    """Each line that names a worker gives an exit code or is damage."""
    yield from unsaid(case, tables)
    if flaw(case.data) or case.data.startswith(WIDE):
        return
    told = {*tables["facts"]["line"].to_list(), *tables["damage"]["line"].to_list()}
    lines = case.data.decode("utf-8-sig", "replace").split("\n")
    silent = [number for number, line in enumerate(lines, 1) if _NAMED.search(line) and number not in told]
    if silent:
        yield f"line {silent[0]} names a worker and gives nothing: {lines[silent[0] - 1][:80]!r}"
