"""What becomes of files: cut, flipped, overwritten, filled with zeros, put together wrongly, hostile.

A mutator takes the bytes of a real file, chance, and another real file of the same kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from random import Random

Mutator = Callable[[bytes, Random, bytes], bytes]

HOSTILE = (
    b"\0", b"\0" * 600, b"\xff", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80", b"\\ud800", b"\xef\xbf\xbd",
    b"\x1b[31m", b"\x1b]0;title\x07", b"\x1b[", b"\x1b]" + b"x" * 500, b"\r", b"\x08" * 40, b"\r\n" * 9, b"\x7f\x85",
    b"9" * 400, b"-1", b"1e999", b"NaN", b"0x7fffffffffffffff", b"18446744073709551616", b"\xd9\xa3",
    b"[" * 5_000, b'{"a":' * 2_000, b"(" * 9_000, b'"', b"'", b"{", b"}", b"\\", b": - ", b"%s%n", b"{0}",
    b"x" * 40_000, b"a " * 9_000, b" " * 3_000 + b"|", b"\n" * 3_000,
    b"\xe2\x80\xae", b"\xe2\x80\xa8", b"\xf0\x9f\x92\xa5", b"\xef\xbb\xbf", b"\xff\xfe", b"<script>",
    b"\nTraceback (most recent call last):\n", b"\nstep 99999999999999999999 loss nan\n", b"\nEpoch 1/0\n",
    b"\n0/0 [==>.] - loss: inf\n", b"\nI0000 00:00:99999999999.9 1 a.cc:1] a\n",
    b"\n0000-00-00 00:00:00.0: E tensorflow/a.cc:1] a\n", b"\n/job:worker/replica:0/task:99999999999\n",
)  # fmt: skip
"""Stretches that no program writes on purpose, or few."""

_NUMBER = re.compile(rb"\d+")
_NUMBERS = (b"0", b"-1", b"4294967296", b"9223372036854775808", b"9" * 400, b"1e308", b"")


def cut(data: bytes, random: Random, other: bytes) -> bytes:
    """Break off: a disk that was full, a copy that was made too early."""
    return data[: random.randrange(len(data) or 1)]


def cut_at_a_line(data: bytes, random: Random, other: bytes) -> bytes:
    """Break off behind some line."""
    ends = [at + 1 for at in range(len(data)) if data[at] == 10]
    return data[: random.choice(ends)] if ends else cut(data, random, other)


def beheaded(data: bytes, random: Random, other: bytes) -> bytes:
    """Begin somewhere: a log of which only the end was kept."""
    return data[random.randrange(len(data) or 1) :]


def flip(data: bytes, random: Random, other: bytes) -> bytes:
    """Turn some bits over."""
    copy = bytearray(data)
    for _ in range(random.choice((1, 1, 1, 2, 5, 16)) if data else 0):
        copy[random.randrange(len(copy))] ^= 1 << random.randrange(8)
    return bytes(copy)


def overwrite(data: bytes, random: Random, other: bytes) -> bytes:
    """Put chance in place of a stretch."""
    start, end = _stretch(data, random)
    return data[:start] + random.randbytes(end - start) + data[end:]


def zeros(data: bytes, random: Random, other: bytes) -> bytes:
    """Leave a hole, as a file system does that crashed."""
    start, end = _stretch(data, random)
    return data[:start] + bytes(end - start) + data[end:]


def delete(data: bytes, random: Random, other: bytes) -> bytes:
    """Take a stretch out."""
    start, end = _stretch(data, random)
    return data[:start] + data[end:]


def duplicate(data: bytes, random: Random, other: bytes) -> bytes:
    """Write a stretch twice, or many times."""
    start, end = _stretch(data, random)
    return data[:start] + data[start:end] * random.choice((2, 2, 3, 40)) + data[end:]


def swap(data: bytes, random: Random, other: bytes) -> bytes:
    """Let two stretches change places."""
    a, b, c, d = sorted(random.randrange(len(data) + 1) for _ in "abcd")
    return data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


def splice(data: bytes, random: Random, other: bytes) -> bytes:
    """Go on with the rest of another file."""
    return data[: random.randrange(len(data) or 1)] + other[random.randrange(len(other) or 1) :]


def append(data: bytes, random: Random, other: bytes) -> bytes:
    """Put another file behind, or a part of it, or rubbish."""
    return data + random.choice((other, cut(other, random, data), random.randbytes(40), bytes(512)))


def hostile(data: bytes, random: Random, other: bytes) -> bytes:
    """Put in what no program writes on purpose."""
    at = random.randrange(len(data) + 1)
    return data[:at] + random.choice(HOSTILE) + data[at:]


def number(data: bytes, random: Random, other: bytes) -> bytes:
    """Write another number in place of one."""
    found = list(_NUMBER.finditer(data))
    if not found:
        return flip(data, random, other)
    start, end = random.choice(found).span()
    return data[:start] + random.choice(_NUMBERS) + data[end:]


def encoded(data: bytes, random: Random, other: bytes) -> bytes:
    """Write the text as other systems do."""
    text = data.decode("latin-1")
    return random.choice(
        (
            lambda: data.replace(b"\n", b"\r\n"),
            lambda: data.replace(b"\n", b"\r"),
            lambda: b"\xef\xbb\xbf" + data,
            lambda: text.encode("utf-16"),
            lambda: text.encode("utf-16-le"),
            lambda: b"\xff\xfe" + data,
            lambda: data.replace(b"e", b"\xe9"),
        )
    )()


MUTATORS: Mapping[str, Mutator] = {
    each.__name__: each
    for each in (
        cut, cut_at_a_line, beheaded, flip, overwrite, zeros, delete, duplicate, swap, splice, append, hostile,
        number, encoded,
    )
}  # fmt: skip


def mutated(data: bytes, other: bytes, random: Random, mutators: Mapping[str, Mutator]) -> bytes:
    """The bytes after one mutator, or after a few; never as they were."""
    changed = data
    while changed == data:
        for _ in range(random.choice((1, 1, 1, 2, 4))):
            changed = random.choice(list(mutators.values()))(changed, random, other)
        changed = changed[: len(data) + _MOST_GROWTH]
    return changed


_MOST_GROWTH = 1 << 20


def _stretch(data: bytes, random: Random) -> tuple[int, int]:
    """Where a stretch begins and ends; most are short, some are a large part of the whole."""
    start = random.randrange(len(data) + 1)
    return start, start + random.choice((1, 2, 8, 64, 512, len(data) // 8, len(data) // 2))
