"""Which lines of a kernel log are of a run whose end is known, and of one that prints no times."""

import polars as pl
import pytest

from analyzer.tables.builders import frame
from analyzer.tables.kernel_times import RunTimes

START, DAY = 1_795_000_000.0, 86_400.0
SOURCES = [
    {"source": "node1/dmesg.txt", "kind": "log", "first_time": START - 9 * DAY, "last_time": START + 9 * DAY},
    {
        "source": "worker-0.log",
        "kind": "log",
        "worker": "worker:0",
        "first_time": START,
        "last_time": START + 2,
    },
]


def apart(killed_at: float, last_step_at: float | None) -> bool:
    """Whether a kill is of another time than a run that started at line 1 and made a step at line 80."""
    step = {"source": "worker-0.log", "line": 80, "tag": "step", "time": last_step_at, "worker": "worker:0"}
    record = {"source": "worker-0.log", "line": 1, "last_line": 1, "time": START + 2, "worker": "worker:0"}
    span = RunTimes(frame("sources", SOURCES), frame("records", [record]), frame("scalars", [step]))
    killed = {"source": "node1/dmesg.txt", "time": killed_at, "excerpt": "Out of memory: Killed process 44"}
    return bool(span.apart_from_end(pl.DataFrame([killed]), "excerpt").item())


@pytest.mark.parametrize(
    ("after_start", "is_apart"), [(360.0, False), (DAY / 2, False), (2 * DAY, True), (-360.0, True)]
)
def test_steps_without_times_leave_the_end_open_for_a_day(after_start: float, is_apart: bool) -> None:
    """What the kernel killed before the start, or days later, was another job."""
    assert apart(START + after_start, None) is is_apart


def test_a_dated_step_is_the_end() -> None:
    """Minutes later, another job had the machine."""
    assert apart(START + 360.0, START + 2)
    assert not apart(START + 30.0, START + 2)
