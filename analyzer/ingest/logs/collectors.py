"""What collectors put before the lines of a log: launchers, container runtimes, Kubernetes.

One file can hold the output of many workers, each line marked with whose it is. The marks are taken off and
the file falls apart into split_streams; every line keeps the number that it has in the file.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from analyzer.ingest.logs.collector_timestamps import TimestampStripper, split_timestamp, iso_timestamp
from analyzer.ingest.logs.text import storable

_MIN_MARKED_SHARE = 0.9
"""Share of the lines that must carry a mark for it to be one."""
_SAMPLE_LINES = 400


class Stream(NamedTuple):
    """Lines of one origin, numbered as in the file; `key` is how the collector names the origin.

    A message of several lines gives several, all with the number of the line of the file that it stands on.
    """

    key: str | None
    lines: list[tuple[int, str]]


class CollectedLine(NamedTuple):
    """The mark of one line taken off: origin, text, and whether its channel goes on with it."""

    key: str | None
    text: str
    is_partial: bool = False
    channel: str = ""
    """stdout or stderr, where the mark tells: each is a text of its own."""
    timestamp: str = ""
    """When the line was printed, where the mark tells."""


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
    """Kubernetes' CRI logs: time, stream, F or P (partial), text."""
    match = re.match(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+\S*) (stdout|stderr) ([FP]) ?(.*)$", line)
    return CollectedLine(None, match[4], match[3] == "P", match[2], match[1]) if match else None


def _timestamped_line(line: str) -> CollectedLine | None:
    """`kubectl logs --timestamps`, `docker logs --timestamps`: time, text."""
    timestamp, text = split_timestamp(line)
    return CollectedLine(None, text, timestamp=timestamp) if timestamp else None


def _json_line(line: str) -> CollectedLine | None:
    """One JSON object a line: Cloud Logging, CloudWatch, Fluent Bit."""
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
    """What was printed; of a line that was JSON itself, Cloud Logging keeps the fields apart."""
    inner = entry.get("jsonPayload")
    for fields in (entry, inner if isinstance(inner, dict) else {}):
        for key in ("log", "message", "textPayload", "msg"):
            if isinstance(fields.get(key), str):
                return str(fields[key])
    return None


def _docker_line(line: str) -> CollectedLine | None:
    """Docker's json-file: an entry whose text has no line break goes on in the next one."""
    mark = _json_line(line)
    return mark and mark._replace(is_partial=mark.is_partial or not _has_line_break(line))


def _has_line_break(line: str) -> bool:
    """Whether an entry that `_json_line` has read holds the end of its line."""
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
"""The most telling marks first; a file is of one style."""


Style = Callable[[str], CollectedLine | None]
"""How one collector marks a line: the mark taken off, or None of a line that carries none."""


def detect_style(lines: Iterable[str]) -> Style | None:
    """The style in which the first lines of a file are marked; None where no collector left its marks."""
    sample = list(islice((line for line in lines if line.strip()), _SAMPLE_LINES))
    for style in STYLES:
        marked = [line for line in sample if style(line) is not None]
        if len(marked) > 1 and len(marked) >= _MIN_MARKED_SHARE * len(sample):
            return _docker_line if style is _json_line and _is_docker(marked) else style
    return None


def _is_docker(entries: Sequence[str]) -> bool:
    """Whether entries keep the ends of their lines; where none does, each is whole."""
    return any('"log"' in line and _has_line_break(line) for line in entries)


def split_streams(numbered: list[tuple[int, str]], style: Style | None) -> list[Stream]:
    """Lines that stand together in a file, apart by origin; as they are, where they carry no marks."""
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
