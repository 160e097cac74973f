"""Locks that keep two calls from using one output directory or one history at the same time."""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import NamedTuple

from analyzer.model.errors import UsageError

_POLL_SECONDS = 0.5


class WaitPolicy(NamedTuple):
    """How many seconds to wait for a lock, and what to call with a line of text when the wait begins."""

    seconds: float = 0.0
    notify: Callable[[str], None] = lambda _: None


def acquire(try_lock: Callable[[], bool], what: str, policy: WaitPolicy) -> None:
    """Call `try_lock` until it returns True.

    Raises:
        UsageError: the lock is still held when the time is up.
    """
    last = monotonic() + policy.seconds
    if try_lock():
        return
    if policy.seconds:
        policy.notify(f"{what}: another mwms-triage is running; waiting up to {policy.seconds:g} s")
    while (left := last - monotonic()) > 0:
        sleep(min(_POLL_SECONDS, left))
        if try_lock():
            return
    raise UsageError(f"{what}: another mwms-triage is running; try again later, or wait longer with --wait")


@contextmanager
def file_lock(path: Path, what: str, policy: WaitPolicy) -> Iterator[None]:
    """Hold an exclusive lock during the `with` block; the kernel releases it if the process dies.

    The lock file is never removed, or two processes could lock different files. Linux passes these locks on
    to NFS servers, so they hold between machines as well.

    Raises:
        UsageError: another process keeps the lock, or the lock file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a", encoding="ascii")
    except OSError as error:
        raise UsageError(f"{what}: cannot be written to: {error.strerror}") from error

    def try_lock() -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    with file:
        acquire(try_lock, what, policy)
        yield
