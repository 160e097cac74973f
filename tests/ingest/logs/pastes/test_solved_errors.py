"""Errors that a post tells were solved are not those of the job."""

from __future__ import annotations

import pytest

from analyzer.ingest.logs.pastes.markdown import unmarked

FIRST = "RuntimeError: Collective ops must be configured at program startup"
LAST = "tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor"
SERVER = (
    "2026-11-21 01:40:37.754266: I tensorflow/core/x.cc:390] Started server with target: grpc://localhost:1"
)
ASKED = "What can I do about it?"


def read(*between: str, last: str = LAST) -> list[str]:
    """Return what is left of two errors with some lines between them."""
    pasted = ["I run the tutorial on two cards and get:", "", "```", FIRST, "```"]
    pasted += [*between, "```", last, "```", ASKED]
    return [line for line in unmarked(pasted) if line and line != "```"]


@pytest.mark.parametrize(
    "said",
    [
        "I moved the strategy to the top and that error is gone.",
        "That was solved by building the strategy first. Now I get:",
        "UPDATE: fixed it, the strategy comes first now, and then:",
        "After that I have another error:",
        "With the strategy first, it now fails like this",
        "这个问题解决了。现在变成下面这个：",
        "Das ist behoben, jetzt kommt:",
        "Eso ya está solucionado, ahora sale:",
    ],
)
def test_the_error_before_the_last_one_is_over(said: str) -> None:
    """In the words of people, of which a program prints none."""
    assert read(said) == [LAST]


@pytest.mark.parametrize(
    "said",
    [
        "Can this be solved?",
        "It is not fixed in the newest version either.",
        "Somebody said it was fixed in 2.3, how?",
        "and the log of the other worker now:",
        "This is the whole output with the debug lines of NCCL:",
        "怎么解决了这个问题？",
        "The second machine now says:",
    ],
)
def test_errors_of_one_run_stay(said: str) -> None:
    """A question, a denial, another process, or more of the output."""
    assert read(said) == [FIRST, LAST]


def test_an_error_may_give_way_to_a_hang() -> None:
    """Without an error below, only that a later run hangs says that the error is over."""
    assert read("I fixed that, now it hangs here:", last=SERVER) == [SERVER]
    assert read("I fixed that, and this is the log of the good run:", last=SERVER) == [FIRST, SERVER]
    assert read("That is solved, now it works:", last=SERVER) == [FIRST, SERVER]


def test_more_output_may_begin_with_errors_that_end_nothing() -> None:
    """As TensorFlow's of plugins; only an exception or an abort is a later end."""
    noise = "2026-11-21 01:40:37.754266: E external/x/cuda_fft.cc:485] Unable to register cuFFT factory"
    assert read("I am now running it with the debug lines of NCCL:", last=noise) == [FIRST, noise]
    assert read("I fixed that, and now I get this:", last=noise) == [noise]


def test_a_post_without_blocks_of_code() -> None:
    """Each line keeps its number."""
    pasted = [
        "I get this on two cards:",
        FIRST,
        "",
        "That one is gone since, and I am now here:",
        LAST,
        ASKED,
    ]
    assert unmarked(pasted) == ["", "", "", "", LAST, ""]


def test_a_solution_below_everything_leaves_the_error() -> None:
    """The post is about the error that it solves."""
    pasted = ["I get this on two cards:", "", "```", FIRST, "```", "I fixed it, the strategy came too late."]
    assert unmarked(pasted)[3] == FIRST


def test_the_newest_of_updates_that_count_downwards_stands_first() -> None:
    """Where they count upwards, each adds to what stands above."""

    def update(number: int, error: str) -> list[str]:
        return [f"Update {number}: this is what I get with the newest version", "```", error, "```"]

    downwards = [line for line in unmarked([*update(2, LAST), *update(1, FIRST)]) if line and line != "```"]
    upwards = [line for line in unmarked([*update(1, FIRST), *update(2, LAST)]) if line and line != "```"]
    assert (downwards, upwards) == ([LAST], [FIRST, LAST])
