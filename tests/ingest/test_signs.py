"""Newlines, NUL bytes and bytes that are no ASCII: read at once or one by one, they are the same."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from analyzer.ingest.signs import Reader, reader

SMALL, LARGE = 1 << 20, 1 << 30
PIECES = st.sampled_from([b"\n", b"a line\n", b"\0", "ü".encode(), b"\xff", b"\x8a\x00", b" " * 300])
BLOCKS = st.lists(PIECES, min_size=1, max_size=40).map(b"".join)


@pytest.fixture(scope="module", params=[SMALL, LARGE])
def read(request: pytest.FixtureRequest) -> Reader:
    """Either way of reading."""
    return reader(request.param)


@given(blocks=st.lists(BLOCKS, min_size=1, max_size=4), cut=st.integers(0, 400), end=st.integers(0, 400))
@example(blocks=[b"\n" * 5000, b"\n"], cut=0, end=400)  # what the block before left behind is not counted
def test_signs_are_what_stands_there(read: Reader, blocks: list[bytes], cut: int, end: int) -> None:
    """Of every block, whatever stood in the one before."""
    for block in blocks:
        signs = read(block)
        assert signs.newlines(0, len(block)) == block.count(b"\n")
        last = min(end, len(block))
        assert signs.newlines(min(cut, last), last) == block[min(cut, last) : last].count(b"\n")
        assert signs.nul == (b"\0" in block)
        assert signs.beyond_ascii == any(byte > 127 for byte in block)
