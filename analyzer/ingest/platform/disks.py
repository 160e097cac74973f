"""Output of `df` → usage of the fullest file system, by space and by inodes.

All forms are read (`df`, `df -h`, `df -hT`, `df -P`, `df -i`), also rows that wrap after a long device name.
Read-only images, which are always full, are omitted.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from operator import itemgetter

from analyzer.ingest.logs.gauges import add_gauge
from analyzer.ingest.matcher import Matcher
from analyzer.ingest.reader_output import SourceRows
from analyzer.ingest.text_reader import report_unread_lines, searched_text

FULLEST = "fullest_mount"
"""Key of the fact with the mount point of the fullest file system."""

_HEADER = re.compile(r"\s*Filesystem\s.*\bMounted on\s*$")
_ROW = re.compile(
    r"(?P<device>\S.{0,300}?)\s+(?:(?P<type>[a-z][\w.+-]{0,30})\s+)?"
    r"(?:(?:[\d.,]{1,25}[kKMGTPEZY]?i?B?|-)\s+){3}(?P<used>\d{1,3}%|-)\s+(?P<mount>/.*)$"
)
_IMAGES = re.compile(r"(squashfs|iso9660|erofs|cramfs|udf)$")
_IMAGE_PATHS = re.compile(r"/dev/loop\d|/snap/")

Usage = tuple[int, str, int]
"""Used percent of one file system, its mount point and its line."""


def read(output: SourceRows, matcher: Matcher) -> None:
    """Add the usage and the mount point of the fullest file system of each table."""
    tag, found, unread = "", list[Usage](), list[int]()
    lines = [*searched_text(output, matcher).split("\n"), ""]
    for number, (line, after) in enumerate(pairwise(lines), 1):
        if _HEADER.match(line):
            note_fullest(output, tag, found)
            tag, found = "disk_inodes_percent" if "Inodes" in line else "disk_used_percent", []
        elif tag and (row := _ROW.match(line)):
            found += _usage(row, number)
        elif tag and _is_continuation(after) and (row := _ROW.match(line + after)):
            found += _usage(row, number + 1)
        elif line.strip() and not (tag and _is_continuation(line) and _ROW.match(lines[number - 2] + line)):
            unread.append(number)
    note_fullest(output, tag, found)
    report_unread_lines(output, unread, "no file system as df prints it")


def _is_continuation(line: str) -> bool:
    """Return True for the second half of a row that wraps after its device name."""
    return line[:1].isspace()


def _usage(row: re.Match[str], line: int) -> Iterator[Usage]:
    """Yield the usage of a row; nothing for a read-only image or where `df` prints no percentage."""
    device, mount = row["device"], row["mount"].rstrip()
    image = _IMAGES.match(row["type"] or "") or _IMAGE_PATHS.match(device) or _IMAGE_PATHS.match(mount)
    if not image and row["used"] != "-":
        yield int(row["used"][:-1]), mount, line


def note_fullest(output: SourceRows, tag: str, found: Sequence[Usage]) -> None:
    """Add usage and mount point of the fullest of some file systems."""
    if found:
        percent, mount, line = max(found, key=itemgetter(0))
        add_gauge(output, tag, float(percent), line=line)
        output.add("facts", line=line, key=FULLEST, value=mount[:300])
