"""Times of lines that state a time of day without a date."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from analyzer.ingest.logs.prefixes.dates import Dates

DATED = "2026-11-20 23:59:00.000001: I tensorflow/core/util/port.cc:113] on"
ABSL = "I0000 00:00:1795219140.000001    41 port.cc:153] on"


def times(*lines: str) -> list[str]:
    """The time of each line of a log, to the second."""
    dates, near, found = Dates(2026, [[*enumerate(lines, 1)]]), None, []
    for line in lines:
        head = dates.head(line, near)
        assert head is not None
        near = near if head.time is None else head.time
        found.append(
            "" if head.time is None else f"{datetime.fromtimestamp(head.time, UTC):%Y-%m-%d %H:%M:%S}"
        )
    return found


@pytest.mark.parametrize("dated", [DATED, ABSL])
def test_the_date_is_that_of_the_lines_around(dated: str) -> None:
    """Above it, or for the first lines below; after midnight, the next one."""
    found = times(
        "23:58:57 starting", dated, "[23:59:58] step 1", "00:00:02 | step 2", "INFO 00:00:03 step 3"
    )
    assert [found[0], *found[2:]] == [
        "2026-11-20 23:58:57", "2026-11-20 23:59:58", "2026-11-21 00:00:02", "2026-11-21 00:00:03",
    ]  # fmt: skip


def test_a_day_passes_without_any_date() -> None:
    """The times count from the first midnight."""
    found = times("17:00:00 step 1", "23:59:59 step 2", "01:00:00 step 3", "09:00:00 step 4")
    assert found == [
        "1970-01-01 17:00:00",
        "1970-01-01 23:59:59",
        "1970-01-02 01:00:00",
        "1970-01-02 09:00:00",
    ]


def test_a_line_that_was_written_late_is_not_of_the_next_day() -> None:
    """A buffer of stdout is flushed after the lines of stderr."""
    assert times(DATED, "23:58:10 step 1", "23:58:30 step 2")[1:] == [
        "2026-11-20 23:58:10",
        "2026-11-20 23:58:30",
    ]


@pytest.mark.parametrize(
    "lines",
    [
        ("00:00:05 step 1", DATED.replace("23:59", "14:20")),
        (DATED.replace("23:59", "14:20"), "00:00:05 step 1"),
    ],
)
def test_a_program_that_counts_from_its_start_states_no_time_of_day(lines: Sequence[str]) -> None:
    """Five seconds are not five seconds after midnight if the other lines are of the afternoon."""
    assert times(*lines, "00:14:00 step 2")[-1] == ""
    assert "" in times(*lines)


def test_an_hour_that_is_none() -> None:
    """A duration of more than a day."""
    assert times(DATED, "25:10:00 step 1")[1] == ""


@pytest.mark.parametrize(
    ("lines", "lacks"), [(["17:00:00 step 1"], True), (["17:00:00 step 1", DATED], False), ([DATED], False)]
)
def test_a_log_knows_whether_it_lacks_a_date(lines: Sequence[str], lacks: bool) -> None:
    """Its times of day have one once any line does."""
    dates = Dates(2026, [[*enumerate(lines, 1)]])
    for line in lines:
        dates.head(line, None)
    assert dates.lacks_date is lacks


BARE = "2026-11-24 02:00:02.169785: I tensorflow/core/a.cc:1] Started"
STAMPED = "2026-11-24T02:00:03.500000001Z INFO:tensorflow:Check health not enabled."
LATER = "2026-11-24 03:00:02.169785: I tensorflow/core/a.cc:1] Started"


@pytest.mark.parametrize(
    ("lines", "zone"),
    [
        (["2026-11-24 02:00:02,100+0000 INFO step 1"], "UTC"),
        (["2026-11-21T02:00:51Z INFO waiting"], "UTC"),
        (["2026-11-21T02:00:51+00:00 INFO waiting"], "UTC"),
        (["2026-11-21T02:00:51 INFO waiting"], "unstated"),
        ([BARE, STAMPED], "UTC"),
        ([STAMPED, "step 1", BARE], "UTC"),
        (["[02:00:01] starting", STAMPED], "UTC"),
        ([BARE], "unstated"),
        ([STAMPED, LATER], "mixed"),
        ([LATER, STAMPED], "mixed"),
        ([LATER, STAMPED, "2026-11-24T02:59:59.5Z step 9", LATER, STAMPED], "mixed"),
        (["2026-11-24T02:00:03.500000Z step 1 loss 0.5"], None),
        (["2026-11-24T02:00:03.500000Z step 1 loss 0.5", BARE], "unstated"),
        (["2026-11-24 02:00:02,100 -10:00 is too cold"], "unstated"),
        (
            [BARE.replace("02:00:02.169785", "21:00:02.169785"), ABSL.replace("1795219140", "1795554002")],
            "UTC",
        ),
        (["step 1 loss 0.5"], None),
        ([], None),
    ],
    ids=[
        "own times",
        "own times with Z",
        "own times with an offset",
        "own times without",
        "a collector's, by which the own are right",
        "own ones after a collector's",
        "times of day beside a collector's",
        "none",
        "a collector's before own ones",
        "two clocks in one log",
        "two clocks, once by chance together",
        "an entry's, whose zone may be assumed",
        "an entry's beside an own one",
        "a number below zero",
        "local ones, whose offset other lines show",
        "no times",
        "no lines",
    ],
)
def test_the_zone_is_known_where_lines_state_or_show_it(lines: list[str], zone: str | None) -> None:
    """Own times without a zone count only beside those with one that agree with them."""
    dates, near = Dates(2026, [[*enumerate(lines, 1)]]), None
    for line in lines:
        head = dates.head(line, near)
        near = head.time if head and head.time is not None else near
    assert dates.time_zone == zone
