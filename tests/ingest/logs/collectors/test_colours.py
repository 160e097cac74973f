"""Lines whose colour alone tells their writer are split by it."""

from __future__ import annotations

from analyzer.ingest.logs.collectors.colours import coloured_style
from analyzer.ingest.logs.collectors.streams import detect_style, split_streams

LINES = (
    "2026-11-21 00:05:01.083826: I tensorflow/core/util/port.cc:113] oneDNN custom operations are on.",
    "step 5 loss 0.4",
    "2026-11-21 00:05:01.083826: W tensorflow/core/framework/dataset.cc:1] not optimized",
)


def painted(colour: int, line: str) -> str:
    """A line in one colour."""
    return f"\x1b[{colour}m{line}\x1b[0m"


def test_each_colour_is_a_writer() -> None:
    """As SageMaker's SDK prints the hosts of a training job."""
    lines = [painted(colour, line) for line in LINES * 3 for colour in (34, 35)]
    found = {
        stream.key: stream.lines for stream in split_streams(list(enumerate(lines)), detect_style(lines))
    }
    assert {*found} == {"colour 34", "colour 35"}
    assert [line for _, line in found["colour 35"]] == [*LINES * 3]


def test_a_colour_that_ends_in_a_later_line() -> None:
    """An event of many lines is coloured as a whole: those between its ends have its writer too."""
    dump = ("environment:", *(f'    "option_{number}": {number},' for number in range(20)), "}")
    lines: list[str] = []
    for colour in (34, 35):
        lines += [f"\x1b[{colour}m{dump[0]}", *dump[1:-1], f"{dump[-1]}\x1b[0m"]
        lines += [painted(colour, line) for line in LINES * 3]
    streams = {
        stream.key: stream.lines for stream in split_streams(list(enumerate(lines)), detect_style(lines))
    }
    assert {*streams} == {"colour 34", "colour 35"}
    assert [line for _, line in streams["colour 35"]] == [*dump, *LINES * 3]


def test_a_colour_that_never_ends_is_no_writer() -> None:
    """Most lines of the log have none."""
    lines = [f"\x1b[34m{LINES[0]}", *LINES * 5, f"\x1b[35m{LINES[0]}", *LINES * 5]
    assert coloured_style(lines) is None


def test_the_colour_of_warnings_is_no_writer() -> None:
    """It has no lines of information."""
    lines = [painted(33 if ": W " in line else 32, line) for line in LINES * 3]
    assert coloured_style(lines) is None


def test_lines_of_one_colour_are_of_one_writer() -> None:
    """Nothing is told apart."""
    assert coloured_style([painted(34, line) for line in LINES * 3]) is None
