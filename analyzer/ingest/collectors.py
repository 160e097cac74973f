"""What collectors put before the lines of a log: launchers, container runtimes, Kubernetes.

One file can hold the output of many workers, each line marked with whose it is. The marks are taken off and
the file falls apart into streams; every line keeps the number that it has in the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from analyzer.ingest.text import storable

_ENOUGH = 0.9
"""Share of the lines that must carry a mark for it to be one."""
_SAMPLE = 400


class Stream(NamedTuple):
    """Lines of one origin, numbered as in the file; `key` is how the collector names the origin.

    A message of several lines gives several, all with the number of the line of the file that it stands on.
    """

    key: str | None
    lines: list[tuple[int, str]]


class Mark(NamedTuple):
    """The mark of one line taken off: origin, text, and whether the next line goes on with it."""

    key: str | None
    text: str
    goes_on: bool = False


def _pattern(expression: str) -> Callable[[str], Mark | None]:
    compiled = re.compile(expression)

    def read(line: str) -> Mark | None:
        match = compiled.match(line)
        return Mark(match["key"], match["text"]) if match else None

    return read


def _container_runtime(line: str) -> Mark | None:
    """Kubernetes' CRI logs: time, stream, F or P (partial), text."""
    match = re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+\S* (?:stdout|stderr) ([FP]) ?(.*)$", line)
    return Mark(None, match[2], match[1] == "P") if match else None


def _json_line(line: str) -> Mark | None:
    """One JSON object a line: docker's json-file, Cloud Logging, CloudWatch, Fluent Bit."""
    if not line.startswith("{"):
        return None
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, dict):
        return None
    text = next(
        (entry[key] for key in ("log", "message", "textPayload", "msg") if isinstance(entry.get(key), str)),
        None,
    )
    if text is None or {"step", "loss"} & entry.keys():
        return None
    key = _origin(entry)
    return Mark(
        key and storable(key), storable(text.rstrip("\n")), "log" in entry and not text.endswith("\n")
    )


def _origin(entry: dict[str, object]) -> str | None:
    for key in ("kubernetes", "resource", "labels"):
        nested = entry.get(key)
        labels = nested.get("labels", nested) if isinstance(nested, dict) else {}
        for name in ("pod_name", "task_name", "container_name"):
            if isinstance(labels, dict) and isinstance(labels.get(name), str):
                return str(labels[name])
    stream = entry.get("logStreamName")
    return stream if isinstance(stream, str) else None


STYLES: Sequence[Callable[[str], Mark | None]] = (
    _container_runtime,
    _json_line,
    _pattern(r"\[pod/(?P<key>[^\]/]+)/[^\]]+\] ?(?P<text>.*)$"),
    _pattern(r"\[\d+,(?P<key>\d+)\]<(?:stdout|stderr)>: ?(?P<text>.*)$"),
    _pattern(
        r"\[(?P<key>(?:[a-z][\w.-]*?)?(?:worker|rank|chief|ps|node|evaluator)[-:_]?\d*)\]: ?(?P<text>.*)$"
    ),
    _pattern(r"(?P<key>[A-Za-z][\w.-]*?) *\| ?(?P<text>.*)$"),
    _pattern(r" *(?P<key>\d{1,5}): ?(?P<text>.*)$"),
    _pattern(r"(?P<key>[a-z][a-z0-9-]*-\d+) [a-z][a-z0-9-]* (?P<text>.*)$"),
)
"""The most telling marks first; a file is of one style."""


def streams(text: str) -> list[Stream]:
    """The streams of a file: one, with its lines as they are, where no collector left its marks."""
    numbered = list(enumerate(text.split("\n"), 1))
    sample = [line for _, line in numbered if line.strip()][:_SAMPLE]
    for style in STYLES:
        marked = sum(style(line) is not None for line in sample)
        if marked > 1 and marked >= _ENOUGH * len(sample):
            return _apart(numbered, style)
    return [Stream(None, numbered)]


def _apart(numbered: Iterable[tuple[int, str]], style: Callable[[str], Mark | None]) -> list[Stream]:
    found: dict[str | None, Stream] = {}
    begun: dict[str | None, tuple[int, str]] = {}
    key: str | None = None
    for number, line in numbered:
        mark = style(line) or Mark(key, line)
        key = mark.key
        start, before = begun.pop(key, (number, ""))
        if mark.goes_on:
            begun[key] = (start, before + mark.text)
        else:
            _append(found, key, start, before + mark.text)
    for key, (start, rest) in begun.items():
        _append(found, key, start, rest)
    return list(found.values())


def _append(found: dict[str | None, Stream], key: str | None, number: int, message: str) -> None:
    stream = found.setdefault(key, Stream(key, []))
    stream.lines.extend((number, line) for line in message.split("\n"))
