"""Base class of the readers of `mwms-recorder` events: finds the method for an event, adds facts."""

from collections.abc import Callable, Mapping
from typing import Any

from analyzer.ingest.logs.text import storable
from analyzer.ingest.reader_output import SourceRows

Event = Mapping[str, Any]
MAX_VALUE_CHARS = 400


class EventReader:
    """Reads the events for which it has a method `_read_EVENT`, which takes line number and event."""

    def __init__(self, output: SourceRows) -> None:
        self._output = output

    def method_for(self, event: str) -> Callable[[int, Event], None] | None:
        """Return the method that reads an event, None if other readers do."""
        return getattr(self, "_read_" + event, None)

    def _add_fact(self, number: int, key: str, value: object, event: Event | None = None) -> None:
        """Add a fact with the time of the event, if one is given; a value of None adds nothing."""
        if value is not None:
            text, time = storable(str(value))[:MAX_VALUE_CHARS], event and float(event["time"])
            self._output.add("facts", line=number, time=time, key=key, value=text)
