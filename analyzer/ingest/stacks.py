"""What `py-spy dump` prints of a process → facts: where its main thread stands.

Frames come innermost first. A thread that waits for other workers stands in TensorFlow's own Python, which
called its runtime; one that a lock, a sleep or a file holds stands in code of the user's, or in Python's.
Native frames (`--native`) are passed over: which library waits tells nothing of for whom.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from analyzer.ingest.matcher import Matcher
from analyzer.ingest.plain import not_understood
from analyzer.ingest.readings import Reading, whole_text
from analyzer.model import Source

INSIDE, OUTSIDE = "stands_inside_tensorflow", "stands_outside_tensorflow"
"""The keys of the fact; its value is the innermost frame of Python, as the dump has it."""

_PROCESS = re.compile(r"Process \d+: ")
_THREAD = re.compile(r"Thread (?:0x[0-9A-Fa-f]+|\d+)(?: \((?P<state>[\w+]+)\))?(?:: ?\"(?P<name>[^\"]*)\")?")
_FRAME = re.compile(r"\s+(?P<frame>\S.{0,500} \((?P<file>[^()]{1,500}?)(?::\d+)?\))\s*$")
_ASIDE = re.compile(r"(?:Python v\d|\s+(?:Arguments|Locals):|\s+[\w.]+: |\s*$)")
"""The version, and with `--locals` the values of variables, which are nobody's business here."""
_RUNTIME = re.compile(r"(?:^|/)tensorflow/python/")
_PYTHON = re.compile(r"\.py$|^<")
"""A file of Python; all other frames are native."""


class _Place(NamedTuple):
    line: int
    frame: str
    inside: bool


def read(source: Source, _matcher: Matcher) -> Reading:
    """One fact for each process: where its main thread stands.

    Raises:
        OSError: the file cannot be read.

    """
    reading = Reading(source)
    place: _Place | None = None
    main, told, unread = False, False, list[int]()
    for number, line in enumerate(whole_text(reading).split("\n"), 1):
        if _PROCESS.match(line):
            _state(reading, place)
            place, main, told = None, False, False
        elif thread := _THREAD.match(line):
            # Without a name, which an old Python does not tell, the first thread is the main one.
            main, told = thread["name"] == "MainThread" or not (told or thread["name"]), True
        elif frame := _FRAME.match(line):
            if main and not place and _PYTHON.search(frame["file"]):
                place = _Place(number, frame["frame"], bool(_RUNTIME.search(frame["file"])))
        elif not _ASIDE.match(line):
            unread.append(number)
    _state(reading, place)
    not_understood(reading, unread, "no frame as py-spy prints it")
    return reading


def _state(reading: Reading, place: _Place | None) -> None:
    if place:
        key = INSIDE if place.inside else OUTSIDE
        reading.add("facts", line=place.line, key=key, value=place.frame)
