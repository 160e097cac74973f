"""Prefixes that collectors add to log lines: launchers, container runtimes, Kubernetes, log services.

One file can hold the output of many workers, with a prefix on each line that says whose it is. The prefixes
are removed and the file is split into one stream per origin; every line keeps its number in the file.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from analyzer.ingest.logs.collector_timestamps import TimestampStripper, iso_timestamp, split_timestamp
from analyzer.ingest.logs.text import storable

_MIN_MARKED_SHARE = 0.9
"""Share of the sampled lines that must carry a prefix for the file to be of that style."""
_SAMPLE_LINES = 400


class Stream(NamedTuple):
    """Lines of one origin, numbered as in the file; `key` is the collector's name for the origin.

    A message of several lines gives several entries with the same line number.
    """

    key: str | None
    lines: list[tuple[int, str]]


class CollectedLine(NamedTuple):
    """One line without its prefix; `is_partial` if the next line of its channel continues it."""

    key: str | None
    text: str
    is_partial: bool = False
    channel: str = ""
    """`stdout` or `stderr` where the prefix says so; each is joined separately."""
    timestamp: str = ""
    """Time of printing as text, empty if the prefix has none."""


def _regex_style(expression: str) -> Callable[[str], CollectedLine | None]:
    compiled = re.compile(expression)

    def read(line: str) -> CollectedLine | None:
        match = compiled.match(line)
        if not match:
            return None
        timestamp, text = split_timestamp(match["text"])
        return CollectedLine(match["key"], text, timestamp=timestamp)

    return read


def _cri_line(line: str) -> CollectedLine | None:
    """Parse a Kubernetes CRI log line: time, stream, F (full) or P (partial), text."""
    match = re.match(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+\S*) (stdout|stderr) ([FP]) ?(.*)$", line)
    return CollectedLine(None, match[4], match[3] == "P", match[2], match[1]) if match else None


def _timestamped_line(line: str) -> CollectedLine | None:
    """Parse a line of `kubectl logs --timestamps` or `docker logs --timestamps`."""
    timestamp, text = split_timestamp(line)
    return CollectedLine(None, text, timestamp=timestamp) if timestamp else None


def _json_line(line: str) -> CollectedLine | None:
    """Parse one JSON object per line: Cloud Logging, CloudWatch, Fluent Bit."""
    if not line.startswith("{"):
        return None
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, dict):
        return None
    text = _message_of(entry)
    if text is None or {"step", "loss"} & entry.keys():
        return None
    key, partial = _origin(entry), "P" in {str(entry.get("_p")), str(entry.get("logtag"))}
    channel, timestamp = str(entry.get("stream", "")), iso_timestamp(entry)
    return CollectedLine(key and storable(key), storable(text.rstrip("\n")), partial, channel, timestamp)


def _message_of(entry: dict[str, object]) -> str | None:
    """Return the printed text; Cloud Logging nests the fields of JSON lines in `jsonPayload`."""
    inner = entry.get("jsonPayload")
    for fields in (entry, inner if isinstance(inner, dict) else {}):
        for key in ("log", "message", "textPayload", "msg"):
            if isinstance(fields.get(key), str):
                return str(fields[key])
    return None


def _docker_line(line: str) -> CollectedLine | None:
    """Parse docker's json-file format: an entry without a final line break continues in the next."""
    mark = _json_line(line)
    return mark and mark._replace(is_partial=mark.is_partial or not _has_line_break(line))


def _has_line_break(line: str) -> bool:
    """True if the entry's text ends its line."""
    log = json.loads(line).get("log")
    return not isinstance(log, str) or log.endswith("\n")


def _origin(entry: dict[str, object]) -> str | None:
    for key in ("kubernetes", "resource", "labels"):
        nested = entry.get(key)
        labels = nested.get("labels", nested) if isinstance(nested, dict) else {}
        for name in ("pod_name", "task_name", "container_name"):
            if isinstance(labels, dict) and isinstance(labels.get(name), str):
                return str(labels[name])
    stream = entry.get("logStreamName")
    return stream if isinstance(stream, str) else None


STYLES: Sequence[Callable[[str], CollectedLine | None]] = (
    _cri_line,
    _json_line,
    _timestamped_line,
    _regex_style(r"\[pod/(?P<key>[^\]/]+)/[^\]]+\] ?(?P<text>.*)$"),
    _regex_style(r"\[\d+,(?P<key>\d+)\]<(?:stdout|stderr)>: ?(?P<text>.*)$"),
    _regex_style(
        r"\[(?P<key>(?:[a-z][\w.-]*?)?(?:worker|rank|chief|ps|node|evaluator)[-:_]?\d*)\]: ?(?P<text>.*)$"
    ),
    _regex_style(r"(?P<key>[A-Za-z][\w.-]*?) *\| ?(?P<text>.*)$"),
    _regex_style(r" *(?P<key>\d{1,5}): ?(?P<text>.*)$"),
    _regex_style(r"(?P<key>[a-z][a-z0-9-]*-\d+) [a-z][a-z0-9-]* (?P<text>.*)$"),
)
"""Most specific styles first; a file has one style."""


Style = Callable[[str], CollectedLine | None]
"""Parses one line of a collector's format; None for a line without that prefix."""


def detect_style(lines: Iterable[str]) -> Style | None:
    """Return the collector style of a file, judged by its first lines; None if there is none."""
    sample = list(islice((line for line in lines if line.strip()), _SAMPLE_LINES))
    for style in STYLES:
        marked = [line for line in sample if style(line) is not None]
        if len(marked) > 1 and len(marked) >= _MIN_MARKED_SHARE * len(sample):
            return _docker_line if style is _json_line and _is_docker(marked) else style
    return None


def _is_docker(entries: Sequence[str]) -> bool:
    """True if entries keep their line breaks; if none does, each entry is a whole line."""
    return any('"log"' in line and _has_line_break(line) for line in entries)


def split_streams(numbered: list[tuple[int, str]], style: Style | None) -> list[Stream]:
    """Split consecutive lines of a file by origin; without a style, they are one stream."""
    if style is None:
        return [Stream(None, numbered)]
    found: dict[str | None, Stream] = {}
    unfinished: dict[tuple[str | None, str], tuple[int, str, str]] = {}
    strippers: defaultdict[str | None, TimestampStripper] = defaultdict(TimestampStripper)
    key: str | None = None
    for number, line in numbered:
        mark = style(line) or CollectedLine(key, line)
        key = mark.key
        start, timestamp, before = unfinished.pop((key, mark.channel), (number, mark.timestamp, ""))
        if mark.is_partial:
            unfinished[key, mark.channel] = (start, timestamp, before + mark.text)
        else:
            _append(found, key, start, before + mark.text, timestamp, strippers[key])
    for (key, _), (start, timestamp, rest) in unfinished.items():
        _append(found, key, start, rest, timestamp, strippers[key])
    for stream in found.values():
        stream.lines.sort(key=itemgetter(0))
    return list(found.values())


def _append(
    found: dict[str | None, Stream],
    key: str | None,
    number: int,
    message: str,
    timestamp: str,
    stripper: TimestampStripper,
) -> None:
    stream = found.setdefault(key, Stream(key, []))
    stream.lines.extend((number, stripper.restore(line, timestamp)) for line in message.split("\n"))
