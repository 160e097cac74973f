"""Files of mwms-recorder → rows: one JSON object per line, read according to its event.

The schema is `recorder/recording.schema.json`. Unknown events and keys are ignored, as the
schema requires.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from analyzer.ingest.matcher import Matcher
from analyzer.ingest.reader_output import SourceRows, whole_text
from analyzer.ingest.recorder.activity import ActivityReader
from analyzer.ingest.recorder.checks import CheckReader
from analyzer.ingest.recorder.outcome import OutcomeReader
from analyzer.ingest.recorder.samples import SampleReader
from analyzer.ingest.recorder.setup import SetupReader
from analyzer.ingest.text_reader import report_unread_lines

_MALFORMED = (KeyError, TypeError, ValueError, AttributeError, OverflowError)
"""Exceptions that the readers raise on a value of the wrong type."""


def read(output: SourceRows, matcher: Matcher) -> None:
    """Read the events of one file; a malformed line counts as damage, a truncated last line does not."""
    text = whole_text(output)
    if output.source.name.endswith(".index.jsonl"):
        return
    outcome, activity = OutcomeReader(output, matcher), ActivityReader(output)
    readers = (
        *(SetupReader(output, matcher), SampleReader(output), activity),
        *(CheckReader(output), outcome),
    )
    unread: list[int] = []
    until = 0.0
    for number, event in _events(text, unread):
        try:
            output.observe_time(float(event["time"]))
            until = float(event["monotonic"])
            for read_event in (reader.method_for(event["event"]) for reader in readers):
                if read_event:
                    read_event(number, event)
        except _MALFORMED:
            unread.append(number)
    outcome.add_stalls(until)
    activity.add_calls()
    report_unread_lines(output, unread, "no event of mwms-recorder")


def _events(text: str, unread: list[int]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield line number and event of each line; the numbers of lines without one are added to `unread`."""
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            event = None
        if isinstance(event, dict):
            yield number, event
        elif number < len(lines):
            unread.append(number)
