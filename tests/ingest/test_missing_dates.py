"""Timestamps without a year or a date get it from the run's other files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import pytest

from analyzer.model.run import Tables

TablesOf = Callable[[Mapping[str, str]], Tables]
DATED = "2026-12-31 23:58:00.000000: I tensorflow/core/util/port.cc:113] oneDNN\n"
STEP = "I{stamp}.000000 140212195974016 train.py:37] step {step} loss 0.5\n"


def when(tables: Tables, source: str) -> list[str]:
    """The times of the steps in a source, to the second."""
    steps = tables["scalars"].filter(tag="step", source=source)
    return [f"{datetime.fromtimestamp(time, UTC):%Y-%m-%d %H:%M:%S}" for time in steps["time"]]


def test_a_part_of_a_log_takes_the_year_of_another(tables_of: TablesOf) -> None:
    """Rotation leaves TensorFlow's first lines in the oldest part."""
    tables = tables_of({
        "worker-0.log.1": DATED + STEP.format(stamp="1231 23:58:30", step=1),
        "worker-0.log": STEP.format(stamp="1231 23:59:30", step=2),
    })  # fmt: skip
    assert when(tables, "worker-0.log") == ["2026-12-31 23:59:30"]


def test_the_year_turns_between_parts_and_within_one(tables_of: TablesOf) -> None:
    """December is followed by January of the next year."""
    turning = STEP.format(stamp="1231 23:59:30", step=2) + STEP.format(stamp="0101 00:00:30", step=3)
    tables = tables_of({
        "worker-0.log.2": DATED,
        "worker-0.log.1": turning,
        "worker-0.log": STEP.format(stamp="0101 00:01:30", step=4),
    })  # fmt: skip
    assert when(tables, "worker-0.log.1") == ["2026-12-31 23:59:30", "2027-01-01 00:00:30"]
    assert when(tables, "worker-0.log") == ["2027-01-01 00:01:30"]


@pytest.mark.parametrize(
    ("line", "year"),
    [
        ("2018-06-11 08:00:09.120400: I tensorflow/core/util/port.cc:113] on\n", "2018"),
        ("Copyright 2018-06-11 of the example\n", "1970"),
        ("driver built 2018-06-11 08:00:09\n", "1970"),
    ],
)
def test_later_lines_of_a_log_tell_the_year_of_its_first(tables_of: TablesOf, line: str, year: str) -> None:
    """What absl prints precedes TensorFlow's lines, also in the years of TensorFlow 1.x."""
    first = STEP.format(stamp="0611 08:00:05", step=1)
    assert when(tables_of({"worker-0.log": first + line}), "worker-0.log") == [f"{year}-06-11 08:00:05"]


def test_another_worker_may_tell_the_year(tables_of: TablesOf) -> None:
    """Where no part of the log itself does."""
    tables = tables_of({"worker-0.log": STEP.format(stamp="1231 23:59:30", step=2), "worker-1.log": DATED})
    assert when(tables, "worker-0.log") == ["2026-12-31 23:59:30"]


@pytest.mark.parametrize("month", ["01", "12"])
def test_without_any_year_none_is_made_up(tables_of: TablesOf, month: str) -> None:
    """The order within the log is all that is known."""
    assert when(
        tables_of({"worker-0.log": STEP.format(stamp=f"{month}11 10:00:00", step=2)}), "worker-0.log"
    ) == [f"1970-{month}-11 10:00:00"]


STARTED = "{day} {clock}.000000: I tensorflow/core/util/port.cc:113] oneDNN\n"


def test_stdout_takes_the_date_of_stderr(tables_of: TablesOf) -> None:
    """TensorFlow's lines, in stderr, have one; also beyond midnight."""
    tables = tables_of({
        "worker-0/stderr.log": STARTED.format(day="2026-11-20", clock="23:59:00"),
        "worker-0/stdout.log": "[23:59:30] step 1 loss 0.5\n[00:00:30] step 2 loss 0.4\n",
        "worker-1/stderr.log": STARTED.format(day="2026-11-19", clock="23:59:00"),
        "worker-1/stdout.log": "[23:59:30] step 1 loss 0.5\n",
    })  # fmt: skip
    assert when(tables, "worker-0/stdout.log") == ["2026-11-20 23:59:30", "2026-11-21 00:00:30"]
    assert when(tables, "worker-1/stdout.log") == ["2026-11-19 23:59:30"]


def test_a_kernel_log_of_weeks_does_not_date_a_program(tables_of: TablesOf) -> None:
    """Of the files with a date, logs come first."""
    tables = tables_of({
        "dmesg.txt": "[Sun Nov  1 10:00:00 2026] EXT4-fs mounted\n[Sat Nov 21 10:00:00 2026] Out of memory: x\n",
        "worker-0.log": STARTED.format(day="2026-11-20", clock="12:00:00"),
        "worker-0.out": "12:00:30 step 1 loss 0.5\n",
    })  # fmt: skip
    assert when(tables, "worker-0.out") == ["2026-11-20 12:00:30"]


def test_times_from_the_start_of_a_program_are_no_times_of_day(tables_of: TablesOf) -> None:
    """Nothing tells when it started."""
    tables = tables_of({
        "worker-0/stderr.log": STARTED.format(day="2026-11-20", clock="14:20:00"),
        "worker-0/stdout.log": "[00:00:30] step 1 loss 0.5\n[00:01:30] step 2 loss 0.4\n",
    })  # fmt: skip
    assert tables["scalars"].filter(source="worker-0/stdout.log")["time"].null_count() > 0


def test_without_any_date_the_time_of_day_stays(tables_of: TablesOf) -> None:
    """Logs of one day can still be compared."""
    tables = tables_of({"worker-0.log": "10:00:00 step 1 loss 0.5\n10:00:02 step 2 loss 0.5\n"})
    assert when(tables, "worker-0.log") == ["1970-01-01 10:00:00", "1970-01-01 10:00:02"]
