"""Readings of the machine: range, steady change, limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from analyzer.derive.training.resources import amount, resources
from analyzer.tables.builders import frame

Readings = Mapping[tuple[str, str], Sequence[float]]


def found(readings: Readings, every: float = 60.0) -> dict[tuple[str, str], dict[str, Any]]:
    """The rows of the table, by worker and tag; a reading each `every` seconds."""
    rows = (
        {"worker": worker, "tag": tag, "source": "s", "line": n + 1, "time": n * every, "value": value,
         "origin": "gauge", "attempt": 1}
        for (worker, tag), values in readings.items()
        for n, value in enumerate(values)
    )  # fmt: skip
    return {(row["worker"], row["tag"]): row for row in resources(frame("scalars", rows)).rows(named=True)}


def test_a_leak_rises_in_every_part_and_runs_into_its_limit() -> None:
    """The pace is that of the lowest values after the warm-up."""
    leak = {("worker:0", "open_files_count"): [40.0 + 10 * n for n in range(61)],
            ("worker:0", "open_files_limit_count"): [1024.0]}  # fmt: skip
    row = found(leak)["worker:0", "open_files_count"]
    assert (row["rises"], row["falls"], row["limit"]) == (5, 0, 1024.0)
    assert row["growth_per_hour"] == pytest.approx(600, rel=0.05)
    assert row["hours_left"] == pytest.approx((1024 - 490) / 592, rel=0.05)
    assert row["course"] == "from 120 to 490 in 38 min (last reading: 640)"


def test_a_shutdown_does_not_hide_a_leak() -> None:
    """The process closes all its files before the recorder sees it end."""
    leak = {("worker:0", "open_files_count"): [*(40.0 + 10 * n for n in range(56)), 28.0, 28.0, 0.0]}
    assert found(leak)["worker:0", "open_files_count"]["rises"] == 5


def test_garbage_that_is_collected_is_no_leak() -> None:
    """A saw's lowest values do not rise."""
    saw = {("worker:0", "rss_bytes"): [100.0 + n % 5 for n in range(80)]}
    assert found(saw)["worker:0", "rss_bytes"]["rises"] == 0


def test_too_few_readings_tell_no_direction() -> None:
    """Every eighth of the time needs one."""
    row = found({("worker:0", "rss_bytes"): [1.0, 2.0, 3.0]})["worker:0", "rss_bytes"]
    assert (row["rises"], row["growth"], row["highest"]) == (None, None, 3.0)


def test_free_space_that_falls_lasts_until_zero() -> None:
    """The pace is that of the highest values."""
    disk = {("worker:0", "disk_free_bytes"): [100.0 - n for n in range(61)]}
    row = found(disk)["worker:0", "disk_free_bytes"]
    assert (row["falls"], row["rises"]) == (5, 0)
    assert row["hours_left"] == pytest.approx(55 / 59.2, rel=0.05)


def test_a_worker_is_compared_with_the_highest_of_the_others() -> None:
    """Alone, with nobody."""
    three = {(f"worker:{n}", "throttled_percent"): [value] for n, value in enumerate((50.0, 5.0, 8.0))}
    assert [row["over_others"] for row in found(three).values()] == [42.0, -45.0, -42.0]
    assert found({("worker:0", "rss_bytes"): [1.0]})["worker:0", "rss_bytes"]["over_others"] is None
    equal = {(f"worker:{n}", "throttled_percent"): [50.0] for n in range(2)}
    assert [row["over_others"] for row in found(equal).values()] == [0.0, 0.0]


@pytest.mark.parametrize(
    ("tag", "value", "text"),
    [
        ("rss_bytes", 1.5 * 2**30, "1.5 GiB"),
        ("rss_bytes", 3 * 2**20, "3 MiB"),
        ("cpu_percent", 31.4, "31 %"),
        ("threads_count", 1024.0, "1,024"),
        ("threads_count", None, None),
    ],
)
def test_an_amount_has_the_unit_of_its_tag(tag: str, value: float | None, text: str | None) -> None:
    """Bytes become MiB and GiB."""
    assert amount(tag, value) == text
