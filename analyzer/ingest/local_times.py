"""Converts the local times of logs to UTC, once one log of the run shows how far they are from it."""

from collections.abc import Sequence

from analyzer.ingest.reader_output import SourceRows

_MINUTES = 60
_PER_HOUR = 3_600


def convert_local_times(outputs: Sequence[SourceRows]) -> None:
    """Shift logs whose times state no zone by the offset that the run's other logs show, if all agree.

    Add a fact `utc_offset` for each log whose offset is known: `-05:00`, or `+00:00` if it prints UTC.
    """
    offsets = {output.utc_offset for output in outputs if output.utc_offset is not None}
    shared = offsets.pop() if len(offsets) == 1 else None
    for output in outputs:
        if shared is not None and output.time_zone == "unstated":
            output.utc_offset, output.time_zone = shared, "UTC"
            output.shift_times(-shared)
        if output.utc_offset is not None:
            output.add("facts", key="utc_offset", value=_named(output.utc_offset))


def _named(offset: float) -> str:
    hours, rest = divmod(abs(int(offset)), _PER_HOUR)
    return f"{'-' if offset < 0 else '+'}{hours:02d}:{rest // _MINUTES:02d}"
