"""Logs that are surveyed side by side give what they give one after the other."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from analyzer.discover import discover
from analyzer.ingest import ingest
from analyzer.ingest.scan import prefetch
from analyzer.model.messages import Messages
from analyzer.model.run import Pattern, Tables

PATTERNS = [Pattern("lost/peer", ("Socket closed",), None)]
MIDDLE = "".join(f"2026-11-21 01:00:{n % 60:02d}.5 step {n} loss {1 / (n + 1):.6f}\n" for n in range(30_000))


def read(run: Path) -> tuple[Tables, list[tuple[str, int, int]]]:
    """The tables of a run, and what was said of its reading."""
    calls: list[tuple[str, int, int]] = []
    return ingest(discover([run]), PATTERNS, Messages(), lambda *call: calls.append(call)), calls


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Four logs, of which one is cut short, one is broken at its first byte, and one holds a NUL."""
    logs = [f"step 0 loss {n}\n{MIDDLE}Socket closed {n}\n{MIDDLE}".encode() for n in range(4)]
    (tmp_path / "worker-0.log").write_bytes(logs[0])
    (tmp_path / "worker-1.log.gz").write_bytes(gzip.compress(logs[1])[:-4_000])
    (tmp_path / "worker-2.log.gz").write_bytes(b"\x1f\x8bno" + bytes(100_000))
    (tmp_path / "worker-3.log").write_bytes(logs[3].replace(b"closed", b"closed\0"))
    return tmp_path


def test_side_by_side_as_one_after_the_other(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same rows and the same damage, and all bytes are counted, none twice."""
    alone, _ = read(run)
    monkeypatch.setattr("analyzer.ingest.LARGE", 10_000)
    monkeypatch.setattr(prefetch, "_LOOK", 0.001)
    beside, calls = read(run)
    assert {name: table.rows() for name, table in beside.items()} == {n: t.rows() for n, t in alone.items()}
    assert beside["matches"]["source"].n_unique() == 3
    assert set(beside["damage"]["source"]) == {"worker-1.log.gz", "worker-3.log"}
    assert "worker-2.log.gz" in beside["sources"].filter(beside["sources"]["read"] == "skipped")["source"]
    done = [call[1] for call in calls]
    assert done == sorted(done)
    assert done[-1] == sum(path.stat().st_size for path in run.iterdir())


def test_who_stops_waiting_waits_no_longer(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The threads end at their next block; what was begun is not ended."""
    monkeypatch.setattr("analyzer.ingest.LARGE", 10_000)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("analyzer.ingest.logs.log_reader._read_selection", interrupted)
    with pytest.raises(KeyboardInterrupt):
        read(run)
