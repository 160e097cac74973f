"""Appends events to a file of JSON lines, each in one write; masks secrets in texts and commands."""

from __future__ import annotations

import json
import os
import re
import time
from typing import Any, Dict, Sequence

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
        """Append a line, after the end of a torn one, in one system call; return False on failure."""
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


MASK = "***"
_WORDS = "password|passwd|secret|token|credential|api[_-]?key|access[_-]?key|private[_-]?key|auth"
_NAME = rf"[\w.-]*(?:{_WORDS})[\w.-]*"
_ASSIGNED = re.compile(r"(?i)\b(" + _NAME + r"\s*[=:]\s*)(\S+)")
_OPTION = re.compile(r"(?i)^--?" + _NAME + r"$")
_USER_INFO = re.compile(r"(\w[\w+.-]*://)[^/\s@]+@")
_KNOWN = re.compile(
    r"\b(?:AKIA[0-9A-Z]{16}|gh[pousr]_\w{20,}|hf_\w{20,}|sk-[\w-]{20,}|xox[abprs]-[\w-]{10,}|ya29\.[\w-]{20,}"
    r"|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*)"
)


def masked(text: str) -> str:
    """Return the text with secrets masked: values of suspicious names, URL user info, known tokens."""
    text = _USER_INFO.sub(r"\1" + MASK + "@", text)
    return _KNOWN.sub(MASK, _ASSIGNED.sub(r"\1" + MASK, text))


def masked_command(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with secrets masked; the value after an option like `--token` is masked whole."""
    after_option = [False, *(bool(_OPTION.match(argument)) for argument in arguments)]
    return [MASK if hidden else masked(argument) for argument, hidden in zip(arguments, after_option)]
