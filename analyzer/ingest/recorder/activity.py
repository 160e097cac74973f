"""What a process did between two samples → percentages in `scalars`: phases of training, waits, stops.

The last sample also tells, in `facts`, whether the process had called its training step and waited in it.
"""

from collections.abc import Iterator, Sequence

from analyzer.ingest.logs.gauges import add_gauge
from analyzer.ingest.reader_output import SourceRows
from analyzer.ingest.recorder.event_reader import Event, EventReader

_STOPPED = "T"
"""State of a process that SIGSTOP holds."""
_PHASES = ("input", "compute", "save", "other")
_MIN_LOOKS = 5
"""Minimum number of samples of a process (5 a second) for a percentage."""
_MIN_QUEUE_BYTES = 1 << 14
"""Send queue that shows a slow network, or a slow reader; it is empty within a millisecond otherwise."""
_MIN_CALL_SECONDS = 5.0
"""Minimum time since a call began, or since the last step ended: the time from one sample to the next."""
_MIN_SEGMENTS = 200
"""Minimum traffic for a percentage: an all-reduce of a small model has more."""


class ActivityReader(EventReader):
    """Reads from pairs of samples how a process spent the time in between."""

    def __init__(self, output: SourceRows) -> None:
        super().__init__(output)
        self._before: Event = {}
        self._steps: set[tuple[int, str]] = set()
        """Process and name of each function that was its training step, and had ended at least once."""
        self._calls: list[tuple[int, str, str, Event]] = []
        """Line, key, value and event of each fact about the last sample."""

    def _read_sample(self, number: int, event: Event) -> None:
        time, before = float(event["time"]), self._before
        self._before = event
        named = [each for each in event.get("progress", ()) if "function" in each]
        self._steps.update((each["pid"], each["function"]) for each in named if each["steps"])
        calls = (self._call(process, float(event["monotonic"])) for process in named)
        self._calls = [(number, *call, event) for call in calls if call]
        found = (*_stops(event), *_waits(before, event), *_losses(before, event), *_phases(before, event))
        for tag, percent in found:
            add_gauge(self._output, f"{tag}_percent", percent, line=number, time=time)

    def add_calls(self) -> None:
        """Add what the last sample shows: `in_step`, or `out_of_step` where TensorFlow ran something else."""
        for number, key, value, event in self._calls:
            self._add_fact(number, key, value, event)

    def _call(self, process: Event, now: float) -> tuple[str, str] | None:
        """Return key and value of a fact about the function that a process has been in for some seconds."""
        steps = [name for pid, name in self._steps if pid == process["pid"]]
        inside, name = process.get("inside", False), process["function"]
        since = process.get("last_begin" if inside else "last_end")
        if not steps or process.get("phase") != "compute" or now - float(since or now) < _MIN_CALL_SECONDS:
            return None
        if inside:
            return ("in_step" if name in steps else "out_of_step"), name
        return "out_of_step", f"a call outside {name}"


def _stops(event: Event) -> Iterator[tuple[str, float]]:
    states = event.get("states", {})
    if looks := sum(states.values()):
        yield "stopped", 100.0 * states.get(_STOPPED, 0) / looks


def _waits(before: Event, event: Event) -> Iterator[tuple[str, float]]:
    """Yield the percentage of its runnable time that a process waited for a processor."""
    ran, waited = (_growth(before, event, key) for key in ("cpu_seconds", "cpu_wait_seconds"))
    if "cpu_wait_seconds" in before and ran + waited > 0:
        yield "cpu_wait", 100.0 * waited / (ran + waited)


def _losses(before: Event, event: Event) -> Iterator[tuple[str, float]]:
    """Yield the share of TCP segments that were sent again, if there was traffic."""
    sent, again = (_growth(before, event, key) for key in ("segments", "retransmits"))
    if "segments" in before and sent >= _MIN_SEGMENTS:
        yield "retransmitted", 100.0 * again / sent


def _phases(before: Event, event: Event) -> Iterator[tuple[str, float]]:
    """Yield (tag, percentage of the time since the last sample) for each phase of each training process.

    Other tags are `generator` (`tf.data` ran a Python generator in another thread), `sending` and `unread`
    (the TCP queue was full, by a look a second) and `training_cpu` (100 per processor in use).
    """
    passed = float(event["monotonic"]) - float(before.get("monotonic", event["monotonic"]))
    earlier = {each["pid"]: each for each in before.get("progress", ())}
    for process in event.get("progress", ()):
        first = earlier.get(process["pid"], {})
        if passed <= 0 or not _is_training(first, process, passed, float(event["monotonic"])):
            continue
        looked, looks = first.get("looks", {}), process.get("looks", {})
        counts = {phase: _growth(looked, looks, phase) for phase in _PHASES}
        if (total := sum(counts.values())) >= _MIN_LOOKS:
            yield from ((phase, 100.0 * count / total) for phase, count in counts.items())
            if "generator_looks" in process:
                yield "generator", 100.0 * _growth(first, process, "generator_looks") / total
        if "unsent_bytes" in event:
            yield "sending", _share_of_full([*event.get("unsent_looks", ()), event["unsent_bytes"]])
        if event.get("unread_looks"):
            yield "unread", _share_of_full(event["unread_looks"])
        if "cpu_seconds" in event and "cpu_seconds" in before:
            yield "training_cpu", 100.0 * _growth(before, event, "cpu_seconds") / passed


def _share_of_full(queues: Sequence[int]) -> float:
    """Return the percentage of samples in which a queue was full; `queues` are their lengths in bytes."""
    return 100.0 * sum(bytes_ >= _MIN_QUEUE_BYTES for bytes_ in queues) / len(queues)


def _is_training(first: Event, process: Event, passed: float, now: float) -> bool:
    """Return True if a process made steps before and between two samples, and the last one was recent.

    `passed` are the seconds between the samples. Recent means within a second plus twice the mean step
    duration: a longer time without a step may be the end of training.
    """
    steps, ended = int(process["steps"]) - int(first.get("steps", 0)), process.get("last_end") or now
    took = float(ended) - float(first.get("last_end") or ended - passed)
    return 0 < int(first.get("steps", 0)) < int(process["steps"]) and now - ended <= 1 + 2 * took / steps


def _growth(before: Event, event: Event, key: str) -> float:
    return max(0.0, float(event.get(key, 0)) - float(before.get(key, 0)))
