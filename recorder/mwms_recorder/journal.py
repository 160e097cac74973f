"""Appends events to a file of JSON lines, which stay complete even if the process is killed."""

from __future__ import annotations

import json
import os
import time
from typing import Any, Dict

Event = Dict[str, Any]


class Journal:
    """Append-only file of events; processes and threads of one host may share it."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._file: int | None = None
        self._torn = False

    def append(self, event: str, **values: Any) -> bool:
        """Write one event with the present time; return False if it could not be written completely."""
        row = {
            "event": event,
            "time": round(time.time(), 6),
            "monotonic": round(time.monotonic(), 6),
            **values,
        }
        return self.append_line(json.dumps(row, default=str, separators=(",", ":")))

    def append_line(self, line: str) -> bool:
        """Write one line in one system call, first ending a line cut off before; return False on failure."""
        data = ("\n" * self._torn + line + "\n").encode("utf-8", "backslashreplace")
        try:
            written = os.write(self._opened(), data)
        except OSError:
            return False
        self._torn = written < len(data) if written else self._torn
        return written == len(data)

    def _opened(self) -> int:
        if self._file is None:
            self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        return self._file
