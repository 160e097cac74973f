"""What collectors put before the lines of a log: launchers, container runtimes, Kubernetes.

One file can hold the output of many workers, each line marked with whose it is. The marks are taken off and
the file falls apart into streams; every line keeps the number that it has in the file.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from analyzer.ingest.logs.collector_timestamps import TimestampStripper, parted, stamp_of
from analyzer.ingest.logs.text import storable

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
    """The mark of one line taken off: origin, text, and whether its channel goes on with it."""

    key: str | None
    text: str
    goes_on: bool = False
    channel: str = ""
    """stdout or stderr, where the mark tells: each is a text of its own."""
    stamp: str = ""
    """When the line was printed, where the mark tells."""


def _pattern(expression: str) -> Callable[[str], Mark | None]:
    compiled = re.compile(expression)

    def read(line: str) -> Mark | None:
        match = compiled.match(line)
        if not match:
            return None
        stamp, text = parted(match["text"])
        return Mark(match["key"], text, stamp=stamp)

    return read


def _container_runtime(line: str) -> Mark | None:
    """Kubernetes' CRI logs: time, stream, F or P (partial), text."""
    match = re.match(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+\S*) (stdout|stderr) ([FP]) ?(.*)$", line)
    return Mark(None, match[4], match[3] == "P", match[2], match[1]) if match else None


def _timed(line: str) -> Mark | None:
    """`kubectl logs --timestamps`, `docker logs --timestamps`: time, text."""
    stamp, text = parted(line)
    return Mark(None, text, stamp=stamp) if stamp else None


def _json_line(line: str) -> Mark | None:
    """One JSON object a line: Cloud Logging, CloudWatch, Fluent Bit."""
    if not line.startswith("{"):
        return None
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, dict):
        return None
    text = _words(entry)
    if text is None or {"step", "loss"} & entry.keys():
        return None
    key, partial = _origin(entry), "P" in {str(entry.get("_p")), str(entry.get("logtag"))}
    channel, stamp = str(entry.get("stream", "")), stamp_of(entry)
    return Mark(key and storable(key), storable(text.rstrip("\n")), partial, channel, stamp)


def _words(entry: dict[str, object]) -> str | None:
    """What was printed; of a line that was JSON itself, Cloud Logging keeps the fields apart."""
    inner = entry.get("jsonPayload")
    for fields in (entry, inner if isinstance(inner, dict) else {}):
        for key in ("log", "message", "textPayload", "msg"):
            if isinstance(fields.get(key), str):
                return str(fields[key])
    return None


def _json_file(line: str) -> Mark | None:
    """Docker's json-file: an entry whose text has no line break goes on in the next one."""
    mark = _json_line(line)
    return mark and mark._replace(goes_on=mark.goes_on or not _is_ended(line))


def _is_ended(line: str) -> bool:
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


STYLES: Sequence[Callable[[str], Mark | None]] = (
    _container_runtime,
    _json_line,
    _timed,
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


Style = Callable[[str], Mark | None]
"""How one collector marks a line: the mark taken off, or None of a line that carries none."""


def style_of(lines: Iterable[str]) -> Style | None:
    """The style in which the first lines of a file are marked; None where no collector left its marks."""
    sample = list(islice((line for line in lines if line.strip()), _SAMPLE))
    for style in STYLES:
        marked = [line for line in sample if style(line) is not None]
        if len(marked) > 1 and len(marked) >= _ENOUGH * len(sample):
            return _json_file if style is _json_line and _is_docker(marked) else style
    return None


def _is_docker(entries: Sequence[str]) -> bool:
    """Whether entries keep the ends of their lines; where none does, each is whole."""
    return any('"log"' in line and _is_ended(line) for line in entries)


def streams(numbered: list[tuple[int, str]], style: Style | None) -> list[Stream]:
    """Lines that stand together in a file, apart by origin; as they are, where they carry no marks."""
    if style is None:
        return [Stream(None, numbered)]
    found: dict[str | None, Stream] = {}
    begun: dict[tuple[str | None, str], tuple[int, str, str]] = {}
    strippers: defaultdict[str | None, TimestampStripper] = defaultdict(TimestampStripper)
    key: str | None = None
    for number, line in numbered:
        mark = style(line) or Mark(key, line)
        key = mark.key
        start, stamp, before = begun.pop((key, mark.channel), (number, mark.stamp, ""))
        if mark.goes_on:
            begun[key, mark.channel] = (start, stamp, before + mark.text)
        else:
            _append(found, key, start, before + mark.text, stamp, strippers[key])
    for (key, _), (start, stamp, rest) in begun.items():
        _append(found, key, start, rest, stamp, strippers[key])
    for stream in found.values():
        stream.lines.sort(key=itemgetter(0))
    return list(found.values())


def _append(
    found: dict[str | None, Stream],
    key: str | None,
    number: int,
    message: str,
    stamp: str,
    stripper: TimestampStripper,
) -> None:
    stream = found.setdefault(key, Stream(key, []))
    stream.lines.extend((number, stripper.told(line, stamp)) for line in message.split("\n"))
