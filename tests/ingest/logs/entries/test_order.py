"""Entries are read oldest first, in whatever order an export has them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analyzer.ingest.logs.exports import entries_of
from analyzer.tables.grouping import grouped

COUNT = 120


def written(
    folder: Path, order: list[int], *, name: str = "@timestamp", timed: bool = True
) -> list[str] | None:
    """The messages of an export with entries in this order; None if it is read as it is."""
    path = folder / "dump.json"
    rows = [
        {"message": f"step {n} loss 0.5"}
        | ({name: f"2026-11-21T01:4{n // 60}:{n % 60:02d}.5Z"} if timed else {})
        for n in order
    ]
    path.write_text("".join(json.dumps({"_source": row}) + "\n" for row in rows), encoding="utf-8")
    lines = entries_of(path).lines
    return None if lines is None else [json.loads(line)["_source"]["message"] for line in lines]


SHARDS = [n for shard in grouped((n % 3, n) for n in range(COUNT)).values() for n in shard]
BLOCKS = [
    n for block in range(0, COUNT, 12) for n in sorted(range(block, block + 12), key=lambda n: (n % 3, n))
]


@pytest.mark.parametrize(
    "order", [SHARDS, BLOCKS, [*range(COUNT)][::-1]], ids=["joined", "mixed", "newest first"]
)
@pytest.mark.parametrize("name", ["@timestamp", "_timestamp", "timereported", "Time"])
def test_entries_without_order_are_sorted(order: list[int], name: str, tmp_path: Path) -> None:
    """As of the shards of an index, whatever the time is called."""
    assert written(tmp_path, order, name=name) == [f"step {n} loss 0.5" for n in range(COUNT)]


def test_entries_in_order_stay(tmp_path: Path) -> None:
    """A few of another writer may come late, and times may lack."""
    late = [*range(COUNT)]
    late[40], late[41] = late[41], late[40]
    assert written(tmp_path, [*range(COUNT)]) is None
    assert written(tmp_path, late) is None
    assert written(tmp_path, SHARDS, timed=False) is None
