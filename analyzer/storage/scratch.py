"""Temporary directories that do not outlive a killed process for long."""

import fcntl
import os
import shutil
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

_PREFIX = "mwms-scratch-"
_MIN_AGE_SECONDS = 60
"""Minimum age of an unlocked directory to count as abandoned; a new one is not locked at once."""


class ScratchDirectory(TemporaryDirectory[str]):
    """A temporary directory; creating one also removes those that killed processes left.

    The directory is locked while a process uses it, and the kernel drops the lock when the last such process
    ends, however it ends.
    """

    def __init__(self) -> None:
        _remove_abandoned()
        super().__init__(prefix=_PREFIX, ignore_cleanup_errors=True)
        self._descriptor = os.open(self.name, os.O_RDONLY)
        with suppress(OSError):  # a file system without locks: the directory may be left behind, no more
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def cleanup(self) -> None:
        """Remove the directory, then drop its lock."""
        super().cleanup()
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _remove_abandoned() -> None:
    for folder in Path(gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime > _MIN_AGE_SECONDS:
                _remove_if_unlocked(folder)


def _remove_if_unlocked(folder: Path) -> None:
    """Remove a scratch directory, unless a process holds its lock.

    Raises:
        OSError: another process uses it, or it belongs to another user.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder)
    finally:
        os.close(descriptor)
