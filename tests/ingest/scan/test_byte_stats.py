"""Newlines, NUL bytes and bytes that are no UTF-8 are found as if one looked at each byte."""

from itertools import takewhile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.ingest.scan.byte_stats import count_newlines, first_invalid_bytes

TEXT = [b"\n", b"a line\n", b"\0", "ü".encode(), "⏵".encode(), b" " * 300]
NO_TEXT = [b"\xff", b"\x8a\x00"]
PIECES = st.lists(st.sampled_from([*TEXT, *NO_TEXT]), max_size=40)


@given(pieces=PIECES, places=st.tuples(st.integers(0, 400), st.integers(0, 400)))
def test_newlines_are_counted_between_two_places(pieces: list[bytes], places: tuple[int, int]) -> None:
    """Also where one of them lies behind the last byte."""
    block, (start, end) = b"".join(pieces), sorted(places)
    assert count_newlines(block, start, end) == sum(byte == ord("\n") for byte in block[start:end])


@pytest.mark.parametrize("line", [b"\n", b"1\n", b"step 7 loss 0.25 accuracy 0.9\n"])
def test_newlines_of_short_and_of_usual_lines(line: bytes) -> None:
    """Of a block of them alone, and of two such blocks around an endless line."""
    block = line * 5_000
    assert count_newlines(block, 0, len(block)) == 5_000
    assert count_newlines(block + b"x" * 5_000 + block, 0, 2 * len(block) + 5_000) == 10_000


@pytest.mark.parametrize("before", range((32 << 10) - 4, (32 << 10) + 1))
def test_a_character_may_lie_anywhere(before: int) -> None:
    """A long block is decoded in pieces; one that is cut in the middle of a character is no UTF-8 there."""
    block = b"a" * before + "⏵".encode() + b"a" * 9
    assert first_invalid_bytes(block).undecodable is None
    assert first_invalid_bytes(block[: before + 2]).undecodable == before
    assert first_invalid_bytes(block + b"\xff").undecodable == len(block)


@given(pieces=PIECES)
def test_odd_bytes_are_found_at_their_first_place(pieces: list[bytes]) -> None:
    """In a block that is filled again afterwards, for nothing holds it."""
    block = bytearray(b"".join(pieces))
    nul, undecodable = first_invalid_bytes(block)
    places = [at for at, byte in enumerate(block) if not byte]
    block.clear()
    assert nul == (places[0] if places else None)
    text = list(takewhile(lambda piece: piece not in NO_TEXT, pieces))
    assert undecodable == (None if len(text) == len(pieces) else len(b"".join(text)))
