"""Times at the start of lines, in the formats that programs use."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.ingest.logs.prefixes.heads import Head, head
from analyzer.ingest.logs.prefixes.time_formats import stamp

AT = datetime(2026, 11, 22, 17, 12, 44, tzinfo=UTC).timestamp()
TEXT = "step 3 loss 0.5"


def known(prefix: str) -> Head:
    """What a prefix says; the text behind it is whole."""
    found = head(prefix + TEXT, 2026)
    assert found is not None
    assert found.text == TEXT
    return found


@pytest.mark.parametrize(
    "prefix",
    [
        "22-11-2026 17:12:44 ", "22.11.2026, 17:12:44 - ", "11/22/2026 05:12:44 PM ", "2026-11-22 5:12:44 PM ",
        "2026.11.22 17:12:44 ", "2026-11-22_17:12:44 ", "2026-11-22-17:12:44 ", "<2026-11-22 17:12:44> ",
        "20261122 17:12:44 ", "20261122-171244 ", "20261122T171244Z ", "[20261122 17:12:44] ",
        "22-Nov-2026 17:12:44 ", "22 Nov 2026 17:12:44 ", "22 November 2026 17:12:44: ",
        "[22/Nov/2026:17:12:44 +0000] ", "Sun, 22 Nov 2026 17:12:44 GMT ", "22 Nov 17:12:44 ",
        "Nov 22, 2026 5:12:44 PM ", "Sun Nov 22 17:12:44 UTC 2026 ", "Sun Nov 22 17:12:44 2026: ",
        "2026-11-22 17:12:44 UTC ", "2026-11-23 01:12:44 +0800 CST ", "2026年11月22日 17:12:44 ",
        "22/11 17:12:44 ", "[1122 17:12:44] ", "[1795367564000] ", "[train] 2026-11-22 17:12:44 ",
    ],
)  # fmt: skip
def test_a_date_is_read_in_many_orders(prefix: str) -> None:
    """Numbers, names of months, 12 hours, zones, brackets."""
    assert known(prefix).time == AT


@pytest.mark.parametrize(
    ("prefix", "level", "origin"),
    [
        ("[E 2026-11-22 17:12:44,000] ", "E", None),
        ("[W 2026-11-22 17:12:44.000 train:22] ", "W", "train:22"),
        ("[C 261122 17:12:44 web:2162] ", "E", "web:2162"),
        ("[1122 17:12:44 @base.py:209] ", None, "@base.py:209"),
        ("[11/22 17:12:44 engine.defaults]: ", None, "engine.defaults"),
        ("E 2026-11-22 17:12:44.000 ", "E", None),
        ("1795367564000 ERROR ", "E", None),
        ("ERROR:2026-11-22 17:12:44,000:", "E", None),
        ("[ERROR][2026-11-22 17:12:44] ", "E", None),
        ("[ERROR|2026-11-22 17:12:44] ", "E", None),
        ("[2026-11-22 17:12:44 ERROR] ", "E", None),
        ("[2026-11-22 17:12:44 ERROR train.py:22] ", "E", "train.py"),
        ("22-Nov-2026 17:12:44 [ERROR] train - ", "E", "train"),
    ],
)
def test_a_level_and_a_name_may_stand_around_a_date(
    prefix: str, level: str | None, origin: str | None
) -> None:
    """As Tornado, Optuna, tensorpack and many a basicConfig print them."""
    found = known(prefix)
    assert (found.time, found.level, found.origin) == (AT, level, origin)


@pytest.mark.parametrize(
    ("prefix", "level", "origin"),
    [
        ("17:12:44 | ", None, None),
        ("5:12:44 PM ", None, None),
        ("[I 17:12:44.000 NotebookApp] ", "I", "NotebookApp"),
        ("[17:12:44][ERROR] ", "E", None),
        ("[ERROR][17:12:44] ", "E", None),
        ("[17:12:44 ERROR] ", "E", None),
        ("[train.py:22] 17:12:44 ", None, "train.py:22"),
    ],
)
def test_a_time_of_day_has_no_date(prefix: str, level: str | None, origin: str | None) -> None:
    """It counts from midnight."""
    found = known(prefix)
    assert (found.time, found.clock, found.level, found.origin) == (None, 61_964.0, level, origin)


@pytest.mark.parametrize(
    ("line", "time", "level", "zoned"),
    [
        ('time=2026-11-22T17:12:44Z level=INFO msg="step 3"', AT, "I", True),
        ("ts=1795367564.5 level=error event=step step=3", AT + 0.5, "E", True),
        ('level=warn ts="2026-11-22 17:12:44" caller=x.go:3', AT, "W", False),
    ],
)
def test_a_line_of_keys_and_values_stays_whole(line: str, time: float, level: str, zoned: bool) -> None:
    """Its other fields are values."""
    assert head(line, 2026) == Head("plain", time, level, None, line, zoned=zoned)


@pytest.mark.parametrize(
    ("prefix", "zoned"),
    [
        ("2026-11-22T17:12:44+00:00", True),
        ("2026-11-22 17:12:44 UTC ", True),
        ("22/Nov/2026:17:12:44 +0000 ", True),
        ("[2026-11-22 17:12:44,123 +0000]", True),
        ("2026-11-22 17:12:44 -", False),
        ("Sun Nov 22 17:12:44 2026", False),
        ("[17:12:44]", False),
    ],
)
def test_a_time_with_its_zone_is_no_local_one(prefix: str, zoned: bool) -> None:
    """Others may be."""
    assert known(prefix).zoned is zoned


@pytest.mark.parametrize(
    "line",
    [
        "15/15 - 2s - loss: 0.1",
        "1/15 [=>..............] - ETA: 0:00 - loss: 0.1",
        "100%|####| 10/10 [00:12<00:00, 3.1it/s]",
        "10.0.0.1:2222 is the leader",
        "3:12:44 elapsed",
        "12:30 is when it began",
        "[10:20:30:40:50:60] is its address",
        "1.2.2026 was a Sunday",
        "22.22.2026 17:12:44 step 3",
        "29 Feb 2026 17:12:44 step 3",
        "13:12:44 PM step 3",
        "[worker-0] step 3",
        "Mayday 5 17:12:44",
        "loss=0.5 time=12.5",
        "top5 12:00:00",
        "1234 17:12:44 step 3",
    ],
)
def test_numbers_that_are_no_time(line: str) -> None:
    """Progress, addresses, durations, and dates that do not exist."""
    found = head(line, 2026)
    assert found is None or (found.time, found.clock) == (None, None)


@given(st.text(alphabet="0123456789-/.: []APMTZNovSun,+", max_size=40))
def test_no_text_breaks_it(text: str) -> None:
    """Whatever stands there, it is a time or none."""
    found = stamp(text, 0, 2026)
    assert found is None or 0 < found.end <= len(text)
