"""Files of exit codes → facts: `worker-0 1`, `worker-1: -9`, `chief=None`, or one number for one worker."""

from __future__ import annotations

import re

from analyzer.ingest.matcher import Matcher
from analyzer.ingest.readings import Reading
from analyzer.ingest.text import decode
from analyzer.model import Source
from analyzer.naming import worker_of

_ENTRY = re.compile(
    r"(?P<name>[A-Za-z][\w./-]*?)[\"']?\s*[:=,\t ]\s*[\"']?(?P<code>-?\d{1,3}|None|null|running)\b",
    re.IGNORECASE,
)
_RESTART = re.compile(r"restart(?:ed)?[-_]?(\d*)|attempt[-_]?(\d+)", re.IGNORECASE)


def read(source: Source, _matcher: Matcher) -> Reading:
    """The exit code of each worker: a number, negative for a signal, or `running`.

    Raises:
        OSError: the file cannot be read.

    """
    reading = Reading(source)
    data = source.path.read_bytes()
    reading.bytes, text = len(data), decode(data)
    for number, line in enumerate(text.splitlines(), 1):
        reading.lines = number
        for entry in _ENTRY.finditer(line):
            _note(reading, number, entry["name"], entry["code"])
        if source.worker and re.fullmatch(r"\s*-?\d{1,3}\s*", line):
            _state(reading, number, source.worker, source.attempt, line.strip())
    return reading


def _note(reading: Reading, line: int, name: str, code: str) -> None:
    worker = worker_of(name)
    if worker is None:
        return
    restart = _RESTART.search(name)
    attempt = 1 if not restart else int(restart[2] or 0) or 1 + int(restart[1] or 1)
    _state(reading, line, worker, attempt, code)


def _state(reading: Reading, line: int, worker: str, attempt: int, code: str) -> None:
    value = str(_signed(int(code))) if code.lstrip("-").isdigit() else "running"
    reading.add("facts", worker=worker, attempt=attempt, line=line, key="exit_code", value=value)


def _signed(code: int) -> int:
    """A shell writes 128 + n for signal n; Python writes -n."""
    return 128 - code if 128 < code < 160 else code
