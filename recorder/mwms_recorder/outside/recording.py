"""What every recording has: the name of its format, and pages in memory for its hooks."""

from __future__ import annotations

import os
import time

SCHEMA = "mwms-recording/1"


def make_pages() -> str:
    """Make the directory for pages of progress: in memory, so that counting a step never waits for a disk.

    Raises:
        OSError: it cannot be made.

    """
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else os.environ.get("TMPDIR", "/tmp")  # noqa: S108
    path = os.path.join(memory, f"mwms-recorder-{os.getpid()}-{time.time_ns()}")
    os.mkdir(path, 0o700)
    return path
