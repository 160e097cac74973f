"""What `df` prints → readings: how full the fullest file system of a worker is, by space and by inodes.

Read in all its forms, `df`, `df -h`, `df -hT`, `df -P`, `df -i`, also where a long device stands on a line
of its own. What is full by its nature is left out: images that are mounted to be read only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from analyzer.ingest.logs.gauges import Gauge, add_gauge
from analyzer.ingest.matcher import Matcher
from analyzer.ingest.reader_output import SourceRows, whole_text
from analyzer.ingest.text_reader import not_understood, note_all
from analyzer.model.run import Source

FULLEST = "fullest_mount"
"""The key of the fact that says where the fullest file system is mounted."""

_HEADER = re.compile(r"\s*Filesystem\s.*\bMounted on\s*$")
_ROW = re.compile(
    r"(?P<device>\S.{0,300}?)\s+(?:(?P<type>[a-z][\w.+-]{0,30})\s+)?"
    r"(?:(?:[\d.,]{1,25}[kKMGTPEZY]?i?B?|-)\s+){3}(?P<used>\d{1,3}%|-)\s+(?P<mount>/.*)$"
)
_IMAGES = re.compile(r"(squashfs|iso9660|erofs|cramfs|udf)$")
_IMAGE_PATHS = re.compile(r"/dev/loop\d|/snap/")


class Usage(NamedTuple):
    """One file system."""

    percent: int
    mount: str
    line: int


def read(source: Source, matcher: Matcher) -> SourceRows:
    """Of each table the fullest file system: how full it is, and where it is mounted.

    Raises:
        OSError: the file cannot be read.

    """
    output = SourceRows(source)
    matcher.begin_file()
    text = whole_text(output)
    note_all(output, matcher, text)
    tag, found, unread = "", list[Usage](), list[int]()
    lines = [*text.split("\n"), ""]
    for number, (line, after) in enumerate(pairwise(lines), 1):
        if _HEADER.match(line):
            _note_fullest(output, tag, found)
            tag, found = "disk_inodes_percent" if "Inodes" in line else "disk_used_percent", []
        elif tag and (row := _ROW.match(line)):
            found += _usage(row, number)
        elif tag and _is_continuation(after) and (row := _ROW.match(line + after)):
            found += _usage(row, number + 1)
        elif line.strip() and not (tag and _is_continuation(line) and _ROW.match(lines[number - 2] + line)):
            unread.append(number)
    _note_fullest(output, tag, found)
    not_understood(output, unread, "no file system as df prints it")
    return output


def _is_continuation(line: str) -> bool:
    """Whether a line is the second half of a row, whose device is as long as a line."""
    return line[:1].isspace()


def _usage(row: re.Match[str], line: int) -> Iterator[Usage]:
    """What a row tells; nothing of an image, nor of what has no such limit."""
    device, mount = row["device"], row["mount"].rstrip()
    image = _IMAGES.match(row["type"] or "") or _IMAGE_PATHS.match(device) or _IMAGE_PATHS.match(mount)
    if not image and row["used"] != "-":
        yield Usage(int(row["used"][:-1]), mount, line)


def _note_fullest(output: SourceRows, tag: str, found: list[Usage]) -> None:
    if found:
        fullest = max(found, key=lambda usage: usage.percent)
        add_gauge(output, Gauge(tag, float(fullest.percent)), line=fullest.line)
        output.add("facts", line=fullest.line, key=FULLEST, value=fullest.mount[:300])
