"""Files of a control group, as they are or collected over time."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from analyzer.model.run import Tables

TablesOf = Callable[[Mapping[str, str]], Tables]
LOG = {"worker-1.log": "step 1 loss 0.5\n"}
GIB = 1024.0**3


def gauges(tables: Tables, name: str) -> list[tuple[str, float, float | None, int]]:
    """Tag, value, time and line of each reading of a file."""
    own = tables["scalars"].filter(tables["scalars"]["source"] == name)
    return own.select("tag", "value", "time", "line").rows()


@pytest.mark.parametrize(
    ("name", "tag"),
    [
        ("worker-1/memory.current", "memory_used_bytes"),
        ("worker-1/memory.peak", "memory_peak_bytes"),
        ("worker-1-memory.max.txt", "memory_limit_bytes"),
        ("memory_usage_in_bytes-worker-1.txt", "memory_used_bytes"),
    ],
)
def test_a_single_number(name: str, tag: str, tables_of: TablesOf) -> None:
    """The name of the file says what it is."""
    tables = tables_of({**LOG, name: "17179869184\n"})
    assert gauges(tables, name) == [(tag, 16 * GIB, None, 1)]
    assert tables["scalars"]["worker"].to_list()[-1] == "worker:1"


@pytest.mark.parametrize("text", ["max\n", "9223372036854771712\n"])
def test_no_limit_is_no_number(text: str, tables_of: TablesOf) -> None:
    """In neither version of control groups."""
    tables = tables_of({**LOG, "worker-1/memory.max": text})
    assert gauges(tables, "worker-1/memory.max") == []
    assert tables["damage"].height == 0


def test_numbers_over_time(tables_of: TablesOf) -> None:
    """Seconds, or a date, stand in front."""
    text = "1795226910 1073741824\n2026-11-21T02:08:35Z 2147483648\n1795226920123 3221225472\n"
    found = gauges(tables_of({**LOG, "worker-1/memory.current": text}), "worker-1/memory.current")
    assert [(value / GIB, time, line) for _, value, time, line in found] == [
        (1, 1795226910.0, 1),
        (2, 1795226915.0, 2),
        (3, 1795226920.123, 3),
    ]


def test_kills_for_memory(tables_of: TablesOf) -> None:
    """A count above zero is a fact."""
    text = "low 0\nhigh 0\nmax 812\noom 3\noom_kill 1\noom_group_kill 0\n"
    tables = tables_of({**LOG, "worker-1/memory.events": text, "worker-0/memory.events": "oom_kill 0\n"})
    facts = tables["facts"].filter(tables["facts"]["key"] == "oom_kill")
    assert facts.select("worker", "line", "value").rows() == [("worker:1", 5, "1")]
    assert ("memory_events/max", 812, None, 3) in gauges(tables, "worker-1/memory.events")


def test_throttling_is_still_seen(tables_of: TablesOf) -> None:
    """By the rule that looks for its words."""
    tables = tables_of({**LOG, "worker-1/cpu.stat": "nr_periods 51200\nnr_throttled 38412\n"})
    assert tables["matches"].select("pattern", "worker").rows() == [("cpu-throttled/throttled", "worker:1")]


@pytest.mark.parametrize("text", ["permission denied\n\nno\n", "\x00\x00", "-5\n", "1" * 5_000 + "\n"])
def test_what_is_no_reading_is_damage(text: str, tables_of: TablesOf) -> None:
    """With the first line that is none."""
    tables = tables_of({**LOG, "worker-1/memory.current": text})
    assert 1 in tables["damage"]["line"]
    assert gauges(tables, "worker-1/memory.current") == []


def test_a_source_file_is_no_control_group(tables_of: TablesOf) -> None:
    """However it is called."""
    tables = tables_of({**LOG, "cpu_stat.py": "import os\n"})
    assert dict(tables["sources"].select("source", "kind").rows())["cpu_stat.py"] == "other"
