"""What was printed after what, within one source and between two of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analyzer.derive.training.ordering import comes_after, is_later
from analyzer.model.findings import Verdict
from analyzer.pipeline import analyze
from tests.derive.logs import Line, derived, error, raised, says, server_started, step, steps

RAISED = raised("ValueError: bad cell")
STEPS = [step(second, second) for second in range(20, 50)]


def done(second: float | None = None) -> Line:
    """A closing line."""
    return says("Saved final model", second)


def lost(second: float) -> Line:
    """What is printed when a peer is gone."""
    return error("E tensorflow/core/a.cc:1] Task /job:worker/replica:0/task:1 heartbeat timeout.", second)


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


@pytest.mark.parametrize(
    ("below", "above", "later"),
    [
        (5.049, 5.080133, False),
        (5.080, 5.080133, True),
        (5.0, 5.080133, True),
        (4.0, 5.080133, False),
        (None, 5.080133, True),
        (5.049, None, True),
        (6.0, 5.080133, True),
    ],
)
def test_a_line_below_that_is_dated_before_is_not_later(
    below: float | None, above: float | None, later: bool
) -> None:
    """Buffered stdout stands below stderr; times cut to milliseconds or seconds decide nothing."""
    row, other = {"source": "a", "line": 9, "time": below}, {"source": "a", "line": 2, "time": above}
    assert is_later(row, other) is later
    assert not is_later(other, row)


def test_a_traceback_in_another_stream_stands_against_a_closing_line() -> None:
    """Whatever their line numbers are; nothing tells which was printed first."""
    streams = {"worker-0/stdout.txt": [*steps(1, 2), done()], "worker-0/stderr.txt": [RAISED]}
    (life,) = derived(streams)["lifetimes"].to_dicts()
    assert (life["ended"], life["sure"]) == ("exception", False)


@pytest.mark.runs
def test_such_a_traceback_is_the_cause(make_run: Callable[[Mapping[str, str]], Path]) -> None:
    """The diagnosis does not believe the closing line."""
    files = {
        "worker-0/stdout.txt": "step 1 loss 0.5\nstep 2 loss 0.4\nSaved final model\n",
        "worker-0/stderr.txt": f"{RAISED.record['text']}\n",
    }
    found = analyze([make_run(files)])
    assert (found.diagnosis.verdict, found.document["cause"]) == (Verdict.FAILED, "user.exception")


@pytest.mark.parametrize(
    ("stderr", "ended", "sure"),
    [
        ([server_started(10), RAISED, lost(12)], "finished", True),
        ([server_started(10), RAISED], "exception", False),
        ([server_started(55), RAISED], "exception", True),
    ],
)
def test_times_tell_the_order_of_two_streams(stderr: list[Line], ended: str, sure: bool) -> None:
    """A traceback lies between the time before it and the time behind it."""
    tables = derived({"worker-0/stdout.txt": [*STEPS, done(50)], "worker-0/stderr.txt": stderr})
    life = tables["lifetimes"].row(0, named=True)
    assert (life["ended"], life["sure"]) == (ended, sure)


@pytest.mark.parametrize(
    "behind", [server_started(10), says("Number of replicas in sync: 2", facts={"replicas": "2"})]
)
def test_an_exception_before_the_start_up_was_caught(behind: Line) -> None:
    """Also where the steps stand in another stream without any time."""
    tables = derived({"worker-0/stdout.txt": steps(1, 2), "worker-0/stderr.txt": [RAISED, behind]})
    assert tables["exceptions"]["final"].to_list() == [False]
    assert tables["lifetimes"]["ended"].to_list() == ["unknown"]


def test_steps_of_another_stream_clear_an_exception_by_their_time() -> None:
    """As they do in one file."""
    stderr = [server_started(10), RAISED, lost(12)]
    tables = derived({"worker-0/stdout.txt": STEPS, "worker-0/stderr.txt": stderr})
    assert tables["exceptions"]["final"].to_list() == [False]


def test_a_closing_line_of_another_stream_is_found_by_its_time() -> None:
    """The steps stand in stderr, the last word in stdout."""
    streams = {"worker-0/stderr.txt": STEPS, "worker-0/stdout.txt": [says("training finished", 60)]}
    (life,) = derived(streams)["lifetimes"].to_dicts()
    assert (life["ended"], life["end_source"]) == ("finished", "worker-0/stdout.txt")


@pytest.mark.parametrize(("second", "counts"), [(45, True), (55, False)])
def test_what_another_stream_prints_behind_the_end_does_not_count(second: int, counts: bool) -> None:
    """An error in stderr, seconds after the closing line in stdout."""
    streams = {
        "worker-0/stdout.txt": [*STEPS, done(50)],
        "worker-0/stderr.txt": [lost(second)],
        "worker-1/stdout.txt": STEPS,
    }
    tables = derived(streams)
    assert tables["accusations"]["counts"].to_list() == [counts]
    assert tables["job"]["errors"].to_list() == [int(counts)]


@pytest.mark.parametrize(("second", "went_on"), [(48, True), (58, False)])
def test_steps_of_another_stream_after_sigterm_are_going_on(second: int, went_on: bool) -> None:
    """TensorFlow tells of the signal in stderr."""
    text = "W a/preemption_notifier.cc:90] SIGTERM caught at 2026-11-21T01:40:48+00:00"
    caught = error(text, second, level="W")._replace(facts={"sigterm": "2026-11-21T01:40:48+00:00"})
    tables = derived({"worker-0/stdout.txt": STEPS, "worker-0/stderr.txt": [caught]})
    assert tables["lifetimes"]["went_on"].to_list() == [went_on]
