"""Reads events of a running and ending task: stalls with thread stacks, signals, the exit status."""

from collections.abc import Iterator, Sequence

from analyzer.ingest.logs.text import storable
from analyzer.ingest.matcher import Matcher
from analyzer.ingest.platform.stacks import INPUT_FRAME, is_called_by_tf_data, main_thread_key
from analyzer.ingest.reader_output import SourceRows
from analyzer.ingest.recorder.event_reader import MAX_VALUE_CHARS, Event, EventReader
from analyzer.ingest.text_reader import add_matches


class OutcomeReader(EventReader):
    """Reads stalls, signals and exit status, event by event in file order."""

    def __init__(self, output: SourceRows, matcher: Matcher) -> None:
        super().__init__(output)
        self._matcher = matcher
        self._before: Event = {}
        self._stall: tuple[int, Event] | None = None
        self._stacks: tuple[int, Event] | None = None

    def _read_facts(self, _number: int, event: Event) -> None:
        self._before = event.get("cgroup", {})

    def _read_signal(self, number: int, event: Event) -> None:
        sender = event.get("sender", {}).get("command") or "a process that had ended"
        who = "the kernel" if event.get("from_kernel") else sender
        self._add_fact(number, "signal_received", f"{event['signal']['name']} from {who}", event)

    def _read_stall(self, number: int, event: Event) -> None:
        self._stall, self._stacks = (number, event), None

    def _read_stacks(self, number: int, event: Event) -> None:
        if event["threads"]:
            self._stacks = (number, event)

    def _read_resumed(self, _number: int, event: Event) -> None:
        if self._stall:
            self._add_stall(*self._stall, seconds=float(event["seconds"]), resumed=True)
        self._stall = self._stacks = None

    def _read_exit(self, number: int, event: Event) -> None:
        at = _frame(event["at"]) if "at" in event else "unknown code"
        self._add_fact(number, "exit_called", f"{event['function']} in {at}", event)

    def _read_recorder_failed(self, number: int, event: Event) -> None:
        what = storable(f"mwms-recorder gave up on {event['part']}: {event['error']}")
        self._output.add_damage(what[:MAX_VALUE_CHARS], line=number)

    def _read_end(self, number: int, event: Event) -> None:
        if event["signal"]:
            self._add_fact(number, "exit_code", str(-int(event["signal"]["number"])), event)
        elif event["exit_code"] is not None:
            self._add_fact(number, "exit_code", str(int(event["exit_code"])), event)
        self._add_fact(number, "recorded_end", "", event)
        group = event.get("cgroup", {})
        if _counts_no_kill(self._before, group):
            self._add_fact(number, "no_oom_kill", "0", event)
        if (kills := _increase(self._before, group, "oom_kill")) > 0:
            self._add_fact(number, "oom_kill", str(kills), event)
            at_limit = _increase(self._before, group, "oom") > 0
            key = "killed_at_memory_limit" if at_limit else "killed_by_host_memory"
            if "oom" in group["memory_events"]:
                self._add_fact(number, key, _memory_use(self._before, group), event)
        for line in event.get("kernel", ()):
            self._add_matches(number, storable(line))

    def _add_matches(self, number: int, line: str) -> None:
        """Match a line of the kernel's log against the signals of the rules."""
        self._matcher.begin_file()
        ids = set().union(*self._matcher.lines(line.encode("utf-8", "replace")).values())
        add_matches(self._output, self._matcher, number, line, ids)

    def add_stalls(self, until: float) -> None:
        """Add the stall that was still going on at the last event, if any, with the stacks of its threads.

        `until` is the monotonic time of that event, in seconds.
        """
        if self._stall:
            number, event = self._stall
            seconds = float(event["seconds"]) + max(0.0, until - float(event["monotonic"]))
            self._add_stall(number, event, seconds=seconds, resumed=False)
            if self._stacks:
                self._add_frames(*self._stacks)

    def _add_stall(self, number: int, event: Event, *, seconds: float, resumed: bool) -> None:
        self._output.add(
            "stalls", line=number, time=float(event["time"]), seconds=seconds, resumed=resumed,
            steps=int(event["steps"]), phase=storable(event.get("phase") or ""),
            frame=_user_frame(self._stacks[1]) if self._stacks else None,
        )  # fmt: skip

    def _add_frames(self, number: int, event: Event) -> None:
        """Add the same facts about stacks as the reader of py-spy dumps."""
        for thread in event["threads"]:
            if not thread["frames"]:
                continue
            innermost = thread["frames"][-1]
            if thread.get("main"):
                self._add_fact(number, main_thread_key(innermost["file"]), _frame(innermost), event)
            elif any(is_called_by_tf_data(frame["file"]) for frame in thread["frames"]):
                self._add_fact(number, INPUT_FRAME, _frame(innermost), event)


def _counts_no_kill(before: Event, after: Event) -> bool:
    """Return True if the kernel counts kills for memory in a control group, and counted none in between."""
    counted = all("oom_kill" in group.get("memory_events", {}) for group in (before, after))
    return counted and _increase(before, after, "oom_kill") == 0


def _increase(before: Event, after: Event, counter: str) -> int:
    """Return by how much a counter of memory.events grew from one state of the control group to another."""
    counts = [int(group.get("memory_events", {}).get(counter, 0)) for group in (before, after)]
    return counts[1] - counts[0]


def _memory_use(before: Event, after: Event) -> str:
    """Return limit, peak and counted kills of a control group, as text."""
    group = {**before, **after}
    sizes = {"limit": group.get("memory_max_bytes"), "peak": group.get("memory_peak_bytes")}
    known = [f"{name} {float(size) / 2**30:.2f} GiB" for name, size in sizes.items() if size]
    earlier, later = before.get("memory_events", {}), after["memory_events"]
    counts = [f"{name} {earlier.get(name, 0)} before and {later[name]} after" for name in ("oom", "oom_kill")]
    return ", ".join([*known, *counts])


def _user_frame(stacks: Event) -> str | None:
    """Return the innermost frame of the main thread that is not in a package or the standard library."""
    for thread in stacks["threads"]:
        if thread.get("main"):
            return next(map(_frame, _user_frames(thread["frames"])), None)
    return None


def _user_frames(frames: Sequence[Event]) -> Iterator[Event]:
    for frame in reversed(frames):
        if "/site-packages/" not in frame["file"] and "/lib/python" not in frame["file"]:
            yield frame


def _frame(frame: Event) -> str:
    return storable(f"{frame['function']} ({frame['file']}:{frame['line']})")[:MAX_VALUE_CHARS]
