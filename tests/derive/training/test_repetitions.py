"""The line that a worker repeats after its last progress."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.derive.logs import Line, derived, says, step

TRAINED = [step(second, second) for second in range(20, 31)]


def retries(*seconds: float) -> list[Line]:
    """Lines of a loop, each with another number."""
    return [says(f"WARNING data: try {number}", second) for number, second in enumerate(seconds, 1)]


def test_a_loop_of_retries_is_counted_and_timed() -> None:
    """Its place is the first of the lines, their numbers differ."""
    found = derived({"worker-0.log": TRAINED, "worker-1.log": [*TRAINED, *retries(31, 41, 51)]})[
        "repetitions"
    ]
    row = found.row(0, named=True)
    assert row == {
        "worker": "worker:1",
        "source": "worker-1.log",
        "line": len(TRAINED) + 1,
        "time": 31.0,
        "text": "WARNING data: try 1",
        "times": 3,
        "seconds": 20.0,
    }
    assert found.height == 1


def test_progress_that_a_buffer_held_back_stands_below_the_loop() -> None:
    """Undated bars come out when the process ends."""
    log = [*TRAINED, *retries(31, 41, 51), step(31), step(32)]
    assert derived({"worker-1.log": log})["repetitions"]["times"].to_list() == [3]


@pytest.mark.parametrize(
    "log",
    [
        pytest.param([*TRAINED, *retries(31, 41)], id="twice"),
        pytest.param([*TRAINED, *retries(31, 33, 36)], id="within seconds"),
        pytest.param([*TRAINED, *retries(31, 41, 51), says("gave up", 52)], id="another line follows"),
        pytest.param([*retries(25), *TRAINED, *retries(31, 41, 51)], id="printed while it trained"),
        pytest.param([*TRAINED, *retries(31, 41, 51), step(31, 52)], id="trained on"),
        pytest.param([*TRAINED, *retries(31, 41), step(31), *retries(51)], id="progress between them"),
        pytest.param(retries(31, 41, 51), id="never trained"),
    ],
)
def test_other_lines_are_no_loop(log: Sequence[Line]) -> None:
    """Few or quick lines, and those of usual work."""
    assert derived({"worker-1.log": log})["repetitions"].is_empty()
