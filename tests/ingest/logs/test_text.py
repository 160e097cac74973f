"""Bytes become lines that a person would read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.ingest.logs.text import MAX_LINE_CHARS, Line, decode, lines


def test_a_string_that_terminals_do_not_show_is_no_text() -> None:
    """Buildkite writes the time of each line so; without its end it is no such string."""
    assert texts(b"\x1b_bk;t=1795224703000\x07step 1\r\n\x1bPq#0\x1b\\step 2\n\x1b_step 3") == [
        "step 1",
        "step 2",
        "step 3",
    ]


def texts(data: bytes) -> list[str]:
    """The lines of some bytes."""
    return [line.text for line in lines(enumerate(decode(data).split("\n"), 1))]


def test_a_bar_whose_control_codes_syslog_escaped() -> None:
    """Rsyslog writes them in octal, as in SageMaker's logs; other text with such a number is kept."""
    bar = (
        "Epoch 1/2\n"
        + "#010" * 9
        + "#015 1/2 [=>..] - loss: 2.1"
        + "#010" * 20
        + "#0152/2 [====] - loss: 2.0"
    )
    assert [line.text for line in lines(enumerate(bar.split("\n"), 1))] == [
        "Epoch 1/2",
        " 1/2 [=>..] - loss: 2.1",
        "2/2 [====] - loss: 2.0",
    ]
    prose = "see issue #010 and #0101010, colour #015015"
    assert [line.text for line in lines([(1, prose)])] == [prose]


def test_each_state_of_a_progress_bar_is_a_line_with_the_number_of_the_physical_one() -> None:
    """Keras redraws with backspaces and carriage returns; a log keeps every state."""
    bar = (
        "Epoch 1/2\n"
        + "\x08" * 9
        + "\r1/2 [=>..] - loss: 2.1"
        + "\x08" * 20
        + "\r2/2 [====] - loss: 2.0\nnext"
    )
    assert list(lines(enumerate(bar.split("\n"), 1))) == [
        Line(1, "Epoch 1/2"),
        Line(2, "1/2 [=>..] - loss: 2.1"),
        Line(2, "2/2 [====] - loss: 2.0"),
        Line(3, "next"),
    ]


def test_colour_codes_and_control_characters_are_taken_out() -> None:
    """Keras 3 colours its bars even in files; a title sequence must not reach a terminal."""
    assert texts(b"\x1b[1m1/8\x1b[0m \x1b[32mok\x1b[0m\x1b]0;title\x07\x00") == ["1/8 ok"]


def test_what_is_glued_behind_a_progress_bar_is_a_line_of_its_own() -> None:
    """A traceback begins wherever the bar was left."""
    assert texts(b"6/20 [==>..] - loss: 0.80Traceback (most recent call last):") == [
        "6/20 [==>..] - loss: 0.80",
        "Traceback (most recent call last):",
    ]


@pytest.mark.parametrize(
    "begins",
    [
        "Traceback (most recent call last):",
        "WARNING:tensorflow:AutoGraph",
        "INFO:absl:a",
        "2026-11-21 01:40:37.754266: W tensorflow/core/a.cc:1] a",
        "I0000 00:00:1795225237.754186 12 a.cc:1] a",
        "E1121 01:40:37.754186 12 a.cc:1] a",
    ],
)
def test_whatever_begins_a_record_is_parted(begins: str) -> None:
    """From what a program left on the line without its end; a line that begins so is whole."""
    assert texts(f"6/20{begins}".encode()) == ["6/20", begins]
    assert texts(begins.encode()) == [begins]


def test_every_usual_encoding_is_read() -> None:
    """UTF-8 with and without a mark, UTF-16, UTF-32; what fits none is shown as such."""
    assert texts(b"\xef\xbb\xbfcaf\xc3\xa9\r\n")[0] == "café"
    assert texts("café".encode("utf-16"))[0] == "café"
    assert texts("café".encode("utf-32"))[0] == "café"
    assert texts(b"caf\xe9")[0] == "caf�"


def test_an_endless_line_is_shortened_and_says_so() -> None:
    """Head and tail stay, because messages end with what matters."""
    (text,) = texts(b"a" * 100_000 + b"end")
    assert len(text) < MAX_LINE_CHARS + 100
    assert text.endswith("end")
    assert "characters cut" in text


@given(st.binary(max_size=2_000))
def test_no_bytes_break_it(data: bytes) -> None:
    """Whatever stands in a file, there are lines, and no control codes in them."""
    assert all("\x1b[" not in text and "\x00" not in text for text in texts(data))


@pytest.mark.parametrize(
    "behind", ["[INFO 11-27 11:16:46 robot] step 40 loss 0.1", "第 40 步 / 共 120 步", "saved model"]
)
def test_what_is_printed_behind_a_bar_of_tqdm_is_a_line_of_its_own(behind: str) -> None:
    """The bar ends its line at the last step only, and is redrawn at times of its own: its count is older."""
    bar = "train:  22%|██▏       | 27/120 [00:01<00:05, 17.97it/s, loss=0.3]"
    assert texts(f"\r{bar}{behind}".encode()) == [bar, behind]


@pytest.mark.parametrize(
    "line",
    [
        "train: 100%|██████████| 120/120 [00:09<00:00, 12.9it/s]",
        "train:  22%|██▏       | 27/120 [00:01<00:05, 17.97it/s], loss 0.3",
        "train:  22%|██▏       | 27/120 [00:01<00:05, 17.97it/s] loss 0.3",
        "disk 22%| in use| 27 of 120 [GB]x",
    ],
)
def test_a_bar_of_tqdm_keeps_what_belongs_to_it(line: str) -> None:
    """Its own end, or what its program adds after a blank or a comma."""
    assert texts(line.encode()) == [line]
