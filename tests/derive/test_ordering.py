"""What was printed after what, within one source and between two of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analyzer.derive.ordering import comes_after
from analyzer.model.findings import Verdict
from analyzer.model.run import Tables
from analyzer.pipeline import analyze

TablesOf = Callable[[Mapping[str, str]], Tables]

RAISED = (
    'Traceback (most recent call last):\n  File "/workspace/train.py", line 4, in <module>\n'
    "    go()\nValueError: bad cell\n"
)
STEPS = "".join(f"2026-11-21 01:40:{second}.0 step {second} loss 0.5\n" for second in range(20, 50))
DONE = "Saved final model\n"
SERVER = (
    "2026-11-21 01:40:{second}.0: I tensorflow/core/distributed_runtime/rpc/grpc_server_lib.cc:438]"
    " Started server with target: grpc://a:1\n"
)
LOST = "2026-11-21 01:40:{second}.0: E tensorflow/core/a.cc:1] Task /job:worker/replica:0/task:1 heartbeat timeout.\n"


@pytest.mark.parametrize(
    ("row", "other", "after"),
    [
        ({"source": "a", "line": 9, "time": 1.0}, {"source": "a", "line": 2, "time": 5.0}, True),
        ({"source": "a", "line": 2, "time": 5.0}, {"source": "a", "line": 9, "time": 1.0}, False),
        ({"source": "a", "line": 1, "time": 5.0}, {"source": "b", "line": 9, "time": 1.0}, True),
        ({"source": "a", "line": 9, "time": 1.0}, {"source": "b", "line": 1, "time": 5.0}, False),
        ({"source": "a", "line": 9, "time": None}, {"source": "b", "line": 1, "time": 5.0}, None),
        ({"source": "a", "line": 9, "near": 6.0, "until": None}, {"source": "b", "line": 1, "time": 5.0}, True),
        ({"source": "a", "line": 9, "near": 4.0, "until": None}, {"source": "b", "line": 1, "time": 5.0}, None),
        ({"source": "a", "line": 9, "near": 3.0, "until": 4.0}, {"source": "b", "line": 1, "time": 5.0}, False),
    ],
)  # fmt: skip
def test_lines_count_within_a_source_and_times_between_two(
    row: dict[str, object], other: dict[str, object], after: bool | None
) -> None:
    """The time before a line without one is only the earliest that it can have."""
    assert comes_after(row, other) is after


def test_a_traceback_in_another_stream_stands_against_a_closing_line(
    tables_of: TablesOf, make_run: Callable[[Mapping[str, str]], Path]
) -> None:
    """Whatever their line numbers are; nothing tells which was printed first."""
    files = {
        "worker-0/stdout.txt": "step 1 loss 0.5\nstep 2 loss 0.4\n" + DONE,
        "worker-0/stderr.txt": RAISED,
    }
    (life,) = tables_of(files)["lifetimes"].to_dicts()
    assert (life["ended"], life["sure"]) == ("exception", False)
    found = analyze([make_run(files)])
    assert (found.diagnosis.verdict, found.document["cause"]) == (Verdict.FAILED, "user.exception")


@pytest.mark.parametrize(
    ("stderr", "ended", "sure"),
    [
        (SERVER.format(second=10) + RAISED + LOST.format(second=12), "finished", True),
        (SERVER.format(second=10) + RAISED, "exception", False),
        (SERVER.format(second=55) + RAISED, "exception", True),
    ],
)
def test_times_tell_the_order_of_two_streams(
    stderr: str, ended: str, sure: bool, tables_of: TablesOf
) -> None:
    """A traceback lies between the time before it and the time behind it."""
    stdout = STEPS + "2026-11-21 01:40:50.0 " + DONE
    tables = tables_of({"worker-0/stdout.txt": stdout, "worker-0/stderr.txt": stderr})
    life = tables["lifetimes"].row(0, named=True)
    assert (life["ended"], life["sure"]) == (ended, sure)


@pytest.mark.parametrize("behind", [SERVER.format(second=10), "Number of replicas in sync: 2\n"])
def test_an_exception_before_the_start_up_was_caught(behind: str, tables_of: TablesOf) -> None:
    """Also where the steps stand in another stream without any time."""
    files = {
        "worker-0/stdout.txt": "step 1 loss 0.5\nstep 2 loss 0.4\n",
        "worker-0/stderr.txt": RAISED + behind,
    }
    tables = tables_of(files)
    assert tables["exceptions"]["final"].to_list() == [False]
    assert tables["lifetimes"]["ended"].to_list() == ["unknown"]


def test_steps_of_another_stream_clear_an_exception_by_their_time(tables_of: TablesOf) -> None:
    """As they do in one file."""
    stderr = SERVER.format(second=10) + RAISED + LOST.format(second=12)
    tables = tables_of({"worker-0/stdout.txt": STEPS, "worker-0/stderr.txt": stderr})
    assert tables["exceptions"]["final"].to_list() == [False]


def test_a_closing_line_of_another_stream_is_found_by_its_time(tables_of: TablesOf) -> None:
    """The steps stand in stderr, the last word in stdout."""
    files = {"worker-0/stderr.txt": STEPS, "worker-0/stdout.txt": "2026-11-21 01:41:00.0 training finished\n"}
    (life,) = tables_of(files)["lifetimes"].to_dicts()
    assert (life["ended"], life["end_source"]) == ("finished", "worker-0/stdout.txt")


def test_what_another_stream_prints_behind_the_end_does_not_count(tables_of: TablesOf) -> None:
    """An error in stderr, seconds after the closing line in stdout."""
    files = {
        "worker-0/stdout.txt": STEPS + "2026-11-21 01:40:50.0 " + DONE,
        "worker-0/stderr.txt": LOST.format(second=55),
        "worker-1/stdout.txt": STEPS,
    }
    tables = tables_of(files)
    assert tables["accusations"]["counts"].to_list() == [False]
    assert tables["job"]["errors"].to_list() == [0]
    before = files | {"worker-0/stderr.txt": LOST.format(second=45)}
    tables = tables_of(before)
    assert tables["accusations"]["counts"].to_list() == [True]
    assert tables["job"]["errors"].to_list() == [1]


def test_steps_of_another_stream_after_sigterm_are_going_on(tables_of: TablesOf) -> None:
    """TensorFlow tells of the signal in stderr."""
    caught = (
        "2026-11-21 01:40:{}.0: W a/preemption_notifier.cc:90] SIGTERM caught at 2026-11-21T01:40:48+00:00\n"
    )
    ends = {}
    for second in (48, 58):
        tables = tables_of({"worker-0/stdout.txt": STEPS, "worker-0/stderr.txt": caught.format(second)})
        ends[second] = tables["lifetimes"]["went_on"].to_list()
    assert ends == {48: [True], 58: [False]}
