"""Defines what supervisor and observer share: format name, progress pages, and the pipes between them."""

from __future__ import annotations

import contextlib
import os
import time
from typing import NamedTuple

SCHEMA = "mwms-recording/1"
DRAINED = b"D"
"""Message of the observer: all output up to the command's end is forwarded and written."""


class Link(NamedTuple):
    """The observer's ends of the two pipes to and from the supervisor, as file descriptors."""

    reader: int
    writer: int


def make_pages() -> str:
    """Create the directory for progress pages, in memory so that counting never waits for a disk.

    Raises:
        OSError: the directory cannot be created.

    """
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else os.environ.get("TMPDIR", "/tmp")  # noqa: S108
    path = os.path.join(memory, f"mwms-recorder-{os.getpid()}-{time.time_ns()}")
    os.mkdir(path, 0o700)
    return path


def remove_pages(path: str) -> None:
    """Remove the directory of progress pages; errors are ignored."""
    with contextlib.suppress(OSError):
        for name in os.listdir(path):
            os.unlink(os.path.join(path, name))
        os.rmdir(path)
