"""How far the local times of a log are from UTC."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from analyzer.ingest.logs.prefixes.utc_offset import utc_offset
from analyzer.model.run import Tables

TablesOf = Callable[[Mapping[str, str]], Tables]
HOUR = 3_600.0
COUNTED = "I0000 00:00:1795219{second}.000001    41 port.cc:153] on"
"""At 140, 2026-11-20 23:59:00 UTC."""


def counted(second: int) -> str:
    """A line of TensorFlow 2.17 or later, `second` of the 1,000 from 23:56:40 UTC on."""
    return COUNTED.format(second=f"{second:03d}")


def offset(*lines: str) -> float | None:
    """The offset of a log, in hours."""
    seconds = utc_offset([[*enumerate(lines, 1)]], 2026)
    return None if seconds is None else seconds / HOUR


@pytest.mark.parametrize(
    ("local", "hours"),
    [
        ("2026-11-21 07:59:01,500 INFO train: started", 8.0),
        ("2026-11-20 18:59:01.500000: I tensorflow/core/a.cc:1] started", -5.0),
        ("I1120 18:59:01.500000 140212195974016 train.py:37] started", -5.0),
        ("2026-11-21 05:29:01 started", 5.5),
        ("[05:29:01] started", 5.5),
        ("18:59:01 | started", -5.0),
        ("2026-11-20 23:59:01 started", 0.0),
    ],
)  # fmt: skip
def test_two_lines_written_together_tell_the_offset(local: str, hours: float) -> None:
    """In any format, with a date or without, before or behind the line that counts from 1970."""
    assert offset(counted(140), local) == hours
    assert offset(local, counted(143)) == hours
    assert (
        offset(counted(140), "Traceback (most recent call last):", '  File "train.py", line 3', local)
        == hours
    )


FAILED = "2026-11-21 07:59:00.169785: E tensorflow/core/a.cc:7] Aborting RingReduce with UNAVAILABLE: Socket closed"
REMOTE = "Additional GRPC error information from remote target /job:worker/replica:0/task:1:"


@pytest.mark.parametrize(
    "error",
    [
        ':{"created":"@1795219140.169500001","description":"Error received from peer","grpc_status":14}',
        r"\n:{\"created\":\"@1795219140.169500001\",\"description\":\"Error received from peer\"}",
        ':UNKNOWN:Error received from peer  {created_time:"2026-11-20T23:59:00.169500001+00:00", grpc_status:14}',
        ':UNKNOWN:Error received from peer  {grpc_status:14, created_time:"2026-11-21T07:59:00.1695+08:00"}',
    ],
    ids=["JSON", "in an escaped string", "with UTC", "with its own offset"],
)
def test_an_error_of_grpc_tells_the_offset(error: str) -> None:
    """It says when it was made, in the line that reports it or below it."""
    assert offset(FAILED, REMOTE, error) == 8.0
    assert offset(f"{FAILED} {error}") == 8.0
    assert offset(FAILED, REMOTE, error, "2026-11-20 23:59:00 of another job") == 8.0


@pytest.mark.parametrize(
    "lines",
    [
        [REMOTE, ':{"created":"@1795219140.169500001","description":"Error"}', FAILED],
        [FAILED.replace("07:59:00", "08:02:10"), ':{"created":"@1795219140.169500001"}'],
        ['I0000 00:00:1795219200.000001 1 a.cc:7] UNAVAILABLE {"created":"@1795219140.169500001"}', FAILED],
        [FAILED, 'checkpoint created: "2026-11-20T23:59:00.169500001+00:00"'],
    ],
    ids=["printed before it", "printed minutes later", "its own line counts from 1970", "no error"],
)
def test_what_else_was_created_does_not_tell_it(lines: list[str]) -> None:
    """An error may be kept, and reported once more."""
    assert offset(*lines) is None


@pytest.mark.parametrize(
    "lines",
    [
        [counted(140), "2026-11-21 08:07:10 step 1"],
        [counted(140), "2026-11-21T07:59:01+08:00 started"],
        [counted(140), "2026-11-20T23:59:01Z started", "2026-11-21 07:59:02 step 1"],
        [counted(140), "00:00:03 step 1"],
        [counted(140), "2026-11-21 00:14:01 step 1"],
        [counted(140), *["."] * 25, "2026-11-21 07:59:04 step 1"],
        [counted(140), "2026-11-23 07:59:01 the next job"],
        ["2026-11-21 07:59:01 step 1"],
    ],
    ids=[
        "some minutes later", "a zone is stated", "a zone is stated between", "a count from the program's start",
        "a quarter of an hour, once", "far apart", "more than a day", "no line counts from 1970",
    ],
)  # fmt: skip
def test_other_lines_do_not_tell_it(lines: list[str]) -> None:
    """A pause has any length, and zones differ by whole quarters of an hour."""
    assert offset(*lines) is None


def test_most_of_the_pairs_decide() -> None:
    """One pause that looks like a zone does not outvote the start of the log."""
    start = [counted(140), "2026-11-20 23:59:01 a", counted(142), "2026-11-20 23:59:03 b"]
    assert offset(*start, counted(144), "2026-11-21 00:59:04 c") == 0.0
    moved = [counted(144), "2026-11-21 07:59:04 c", counted(146), "2026-11-21 07:59:07 d", counted(148)]
    assert offset(*start, *moved) is None


STEPS = "2026-11-21 07:59:{second:02d},000 INFO step {step} loss 0.5\n"


def times(tables: Tables, source: str) -> list[float]:
    """The times of the steps of a log, in seconds since the line that counts from 1970 at 140."""
    return [time - 1795219140 for time in tables["scalars"].filter(tag="step", source=source)["time"]]


def test_local_times_become_utc(tables_of: TablesOf) -> None:
    """Also those of the worker whose log shows no other times, and of a program without dates."""
    steps = STEPS.format(second=2, step=1) + STEPS.format(second=4, step=2)
    tables = tables_of({
        "worker-0.log": f"{counted(140)}\n{steps}{counted(150)}\n",
        "worker-1.log": steps,
        "worker-2.log": "07:59:03 step 1 loss 0.5\n",
        "worker-3.log": "2026-11-20T23:59:05Z step 1 loss 0.5\n",
    })  # fmt: skip
    assert [times(tables, f"worker-{index}.log") for index in range(4)] == [[2, 4], [2, 4], [3], [5]]
    facts = tables["facts"].filter(key="utc_offset").select("source", "value").sort("source").rows()
    assert facts == [(f"worker-{index}.log", "+08:00") for index in range(3)]
    assert tables["sources"]["time_zone"].to_list() == ["UTC"] * 4


def test_two_offsets_say_nothing_of_a_third_log(tables_of: TablesOf) -> None:
    """Hosts may be in several zones."""
    steps = STEPS.format(second=2, step=1)
    tables = tables_of({
        "worker-0.log": f"{counted(140)}\n{steps}",
        "worker-1.log": f"{counted(140)}\n2026-11-20 23:59:02,000 INFO step 1 loss 0.5\n",
        "worker-2.log": steps,
    })  # fmt: skip
    assert [times(tables, f"worker-{index}.log") for index in range(3)] == [[2], [2], [2 + 8 * HOUR]]
    assert tables["sources"].sort("source")["time_zone"].to_list() == ["UTC", "UTC", "unstated"]


def test_hosts_that_print_utc_tell_it_of_the_other_logs(tables_of: TablesOf) -> None:
    """An offset of zero is one."""
    tables = tables_of({
        "worker-0.log": f"{counted(140)}\n2026-11-20 23:59:02,000 INFO step 1 loss 0.5\n",
        "worker-1.log": "2026-11-20 23:59:02,000 INFO step 1 loss 0.5\n",
    })  # fmt: skip
    assert [times(tables, f"worker-{index}.log") for index in range(2)] == [[2], [2]]
    assert tables["sources"]["time_zone"].to_list() == ["UTC", "UTC"]
