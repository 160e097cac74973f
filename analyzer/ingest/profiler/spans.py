"""The contents of a profiler trace in any format: spans and damage."""

from collections.abc import Iterator
from typing import NamedTuple

from analyzer.ingest.tensorboard.event_files import Damage

MAX_SPANS = 80_000
"""Maximum number of spans from all traces of a run: about 150 MB in all later stages."""
MIN_SPANS = 2_000
"""Number of spans that each trace may have, however many traces there are."""


class Span(NamedTuple):
    """One interval on one thread of a worker.

    `kind` is collective, step, function (a call of a tf.function, the step of a custom loop), input, copy,
    compile or compute. Computing has no span per operation, but one per interval in which any thread of a
    plane computes. Times are nanoseconds since the epoch where `Trace.absolute`, else since the profile
    began; `end_ns` is None if the span has no end in the trace. `instance` is a collective's instance
    key, equal on all workers. `step` is the number of the step that contains the span, if the trace has it.
    """

    kind: str
    name: str
    start_ns: int
    end_ns: int | None
    thread: str
    plane: str
    step: int | None = None
    instance: int | None = None


class Trace(NamedTuple):
    """The contents of one trace; `spans` are sorted by start."""

    spans: list[Span]
    damage: list[Damage]
    absolute: bool = False
    """Whether times are nanoseconds since the epoch."""
    events: int = 0
    """Number of events in the trace, including those without a span."""
    start_ns: int | None = None
    stop_ns: int | None = None
    """When profiling began and ended, in nanoseconds since the epoch.

    TensorFlow 2.15 writes neither. The start then comes from tf.data, which numbers prefetched elements by
    the time in nanoseconds; where both are known, they differ by less than 5 µs.
    """


def with_steps(spans: list[Span]) -> Iterator[Span]:
    """Yield spans in order of start, each with the number of the step during which it began."""
    current: Span | None = None
    for span in sorted(spans, key=lambda span: span.start_ns):
        if span.kind == "step" and span.step is not None:
            current = span
        inside = current is not None and span.start_ns <= (current.end_ns or span.start_ns)
        yield span._replace(step=current.step) if inside and current and span.step is None else span


def spans_left_out(limit: int) -> Damage:
    """Return the damage of a trace with more than `limit` spans."""
    return Damage(0, None, f"holds more than {limit} spans; those after them are left out")


def shifted(span: Span, shift: int) -> Span:
    """Return the span moved by `shift` nanoseconds."""
    end = None if span.end_ns is None else span.end_ns + shift
    return span._replace(start_ns=span.start_ns + shift, end_ns=end)


def stat_text(value: object) -> str:
    """Return a stat as text; None becomes an empty text."""
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value or "")


def whole_number(value: object) -> int | None:
    """Return a stat as an integer; None if it is not one."""
    text = stat_text(value) if isinstance(value, bytes) else value
    try:
        return None if text is None else int(text)  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        return None
