"""Selects the held-out third of the recordings, which nobody looks at while writing rules.

To rule out choice, the name alone decides: a recording is held out if the SHA-256 digest of its name is
divisible by three. Rules are developed on the other two thirds; the scoreboard shows both columns.
"""

from __future__ import annotations

from hashlib import sha256
from typing import NamedTuple

from analyzer.trainer.scoring.intervals import wilson


class Share(NamedTuple):
    """Number of right answers, and of all answers."""

    right: int
    of: int


def is_held_out(recording: str) -> bool:
    """Return True if the recording is held out, which depends on its name only."""
    return int.from_bytes(sha256(recording.encode()).digest(), "big") % 3 == 0


def differ(held_out: Share, developed: Share) -> bool:
    """Return True if the held-out share is lower, and the 95 % intervals of both shares do not overlap."""
    if not held_out.of or not developed.of:
        return False
    return wilson(*held_out)[1] < wilson(*developed)[0]
