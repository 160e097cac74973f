"""What supervisor and observer share: the format's name, pages in memory, and how they talk."""

from __future__ import annotations

import contextlib
import os
import time
from typing import NamedTuple

SCHEMA = "mwms-recording/1"
DRAINED = b"D"
"""The observer says so when all output up to the command's end is passed on and written."""


class Link(NamedTuple):
    """The observer's ends of the pipes between it and the supervisor."""

    told: int
    said: int


def make_pages() -> str:
    """Make the directory for pages of progress: in memory, so that counting a step never waits for a disk.

    Raises:
        OSError: it cannot be made.

    """
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else os.environ.get("TMPDIR", "/tmp")  # noqa: S108
    path = os.path.join(memory, f"mwms-recorder-{os.getpid()}-{time.time_ns()}")
    os.mkdir(path, 0o700)
    return path


def remove_pages(path: str) -> None:
    """Remove the directory for pages, as far as that is possible."""
    with contextlib.suppress(OSError):
        for name in os.listdir(path):
            os.unlink(os.path.join(path, name))
        os.rmdir(path)
