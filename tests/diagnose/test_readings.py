"""Readings of the machine, chosen and thinned for drawing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analyzer.diagnose.curves import MAX_READINGS, readings_by_worker
from analyzer.model.contract import DrawnReading
from analyzer.tables.builders import frame


def drawn(readings: Mapping[str, Sequence[float]]) -> dict[str, DrawnReading]:
    """What is drawn of one worker, by tag; a reading each five seconds."""
    rows = (
        {"worker": "worker:0", "tag": tag, "time": 5.0 * n, "value": value, "origin": "gauge", "source": "s"}
        for tag, values in readings.items()
        for n, value in enumerate(values)
    )
    return {each["tag"]: each for each in readings_by_worker(frame("scalars", rows)).get("worker:0", [])}


def test_a_peak_is_not_thinned_away() -> None:
    """Of each stretch of time, the highest reading is kept."""
    values = [1.0] * 1000
    values[501] = 9.0
    (made,) = drawn({"rss_bytes": values}).values()
    assert made["kept"] == len(made["points"]) <= MAX_READINGS
    assert made["total"] == 1000
    assert [2505.0, 9.0] in made["points"]


def test_of_several_gpus_the_highest_counts() -> None:
    """One curve a worker, whatever it has."""
    made = drawn(
        {"gpu0/utilization_percent": [10.0, 20.0, 30.0], "gpu1/utilization_percent": [99.0, 1.0, 2.0]}
    )
    assert [value for _, value in made["gpu/utilization_percent"]["points"]] == [99.0, 20.0, 30.0]


def test_what_says_little_is_not_drawn() -> None:
    """Two readings are no curve, and not every quantity has one."""
    assert drawn({"rss_bytes": [1.0, 2.0], "load": [1.0] * 9}) == {}
