"""What the kernel says of a group of processes: one number, or a line for each count."""

from __future__ import annotations

from collections.abc import Iterable

from tests.fuzz.oracles import unsaid as wrong
from tests.fuzz.target import Seed

__all__ = ["seeds", "wrong"]


def seeds() -> Iterable[Seed]:
    """As they stand below /sys/fs/cgroup, and readings of one, with times."""
    yield Seed("memory.current", b"34359738368\n")
    yield Seed("memory.max", b"max\n")
    yield Seed("memory.events", b"low 0\nhigh 0\nmax 41\noom 3\noom_kill 1\noom_group_kill 0\n")
    yield Seed("memory.current.log", b"".join(b"%d %d\n" % (1_795_229_994 + n, n << 30) for n in range(40)))
