"""A lock that allows one mwms-triage per output directory; the kernel releases it when the process ends."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from analyzer.model.errors import UsageError


@contextmanager
def directory_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of a directory; its file is never removed, or two processes could lock different files.

    Raises:
        UsageError: another process holds the lock, or the directory is not writable.

    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / ".lock").open("a", encoding="ascii")
    except OSError as error:
        raise UsageError(f"-o {folder}: cannot be written to: {error.strerror}") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"-o {folder}: another mwms-triage is at work there") from None
        yield
