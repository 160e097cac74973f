"""Merges the events of all workers into one timeline."""

import math
from bisect import bisect_right
from collections.abc import Container, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Literal, cast

import polars as pl

from analyzer.diagnose.log_lines.lines import LineTexts
from analyzer.diagnose.wording import end_of, wording
from analyzer.model.contract import PauseInterval, TimelineEvent
from analyzer.model.placeholders import shorten
from analyzer.model.run import Tables
from analyzer.model.task_names import position
from analyzer.tables.clock_alignment import CommonClock
from analyzer.tables.end_times import first_reports, recorded_ends
from analyzer.tables.grouping import grouped

MAX_EVENTS = 400
"""Maximum number of events; those of blamed workers are kept first, then by kind."""
_MAX_CHARS = 240
_IMPORTANCE = (
    "error", "nonfinite", "exploded", "signal", "end", "silence", "last_seen", "accusation", "last_step",
    "first_step", "start",
)  # fmt: skip

_LOSSES = ("training_loss", "loss")
"""Quantities of curves."""

_FAILURES = ("error", "end", "silence")
_MAY_BE_UNDATED = ("last_step", "nonfinite")
"""Kinds of events that date a failure, but whose lines may have no time."""
_BY_EXIT_CODE = ("signal", "exited")
"""Ends that an exit code tells, so that the time of the code is that of the end."""

Event = dict[str, Any]


def timeline(
    tables: Tables,
    parts: Mapping[str, str],
    paused: Mapping[str, Sequence[PauseInterval]] = MappingProxyType({}),
    cause: str | None = None,
) -> tuple[list[TimelineEvent], int]:
    """Return (events by time on the common clock, number of less important events left out).

    `parts` maps workers to their part in the failure, `paused` to their pauses; `cause` is the verdict's.
    Each event refers to its log line, if it has one.
    """
    clock = CommonClock(tables["clocks"], tables["sources"])
    found = [
        *_milestones(tables),
        *_progress(tables),
        *_bad_losses(tables),
        *_errors(tables, parts),
        *_accusations(tables),
        *_checkpoints(tables),
        *_restarts(tables),
        *_end_of_job(tables),
    ]
    aligned = [e | {"time": clock.time(e["worker"], e["source"], e["time"])} for e in found]
    with_time = _lines_with_time(tables["records"])
    ended = recorded_ends(tables["facts"], clock)
    ends = _ends(tables, parts, cause, with_time, ended)
    events = [*_starts(tables), *aligned, *ends, *_compilations(paused)]
    order = _SortKey(events, tables, clock, with_time, ended)
    events.sort(key=order.key)
    blamed = {worker for worker, part in parts.items() if part in {"culprit", "suspect"}}
    kept = sorted(range(len(events)), key=lambda i: (events[i]["worker"] not in blamed, _rank(events[i]), i))
    shown = [events[i] | order.bounds(events[i]) for i in sorted(kept[:MAX_EVENTS])]
    return _with_excerpts(_with_attempts(shown, tables), tables), len(events) - len(shown)


def pauses_by_worker(pauses: pl.DataFrame) -> dict[str, list[PauseInterval]]:
    """Return worker → its pauses by time, in the form of the output document."""
    rows = pauses.iter_rows(named=True)
    return grouped((row.pop("worker"), cast(PauseInterval, row)) for row in rows)


def _with_attempts(events: Sequence[Event], tables: Tables) -> list[Event]:
    """Return the events, without the attempts of workers that made only one."""
    again = set(tables["lifetimes"].filter(pl.col("attempts") > 1)["worker"])
    return [
        event
        if event["worker"] in again
        else {key: value for key, value in event.items() if key != "attempt"}
        for event in events
    ]


def _with_excerpts(events: Sequence[Event], tables: Tables) -> list[TimelineEvent]:
    """Return the events, numbered, with the text of their lines."""
    lines = LineTexts(tables, {event["source"] for event in events if event["line"]})
    numbered = []
    for number, event in enumerate(events, 1):
        text = "" if event["line"] is None else lines.at(event["source"], event["line"])
        excerpt = shorten(text, _MAX_CHARS)
        numbered.append(cast(TimelineEvent, {"n": number, **event, "excerpt": excerpt}))
    return numbered


def _rank(event: Event) -> int:
    return _IMPORTANCE.index(event["kind"]) if event["kind"] in _IMPORTANCE else len(_IMPORTANCE)


def _lines_with_time(records: pl.DataFrame) -> set[tuple[str, int]]:
    """Return (source, line) of each line of a record that has a time of its own."""
    dated = records.filter(pl.col("time").is_not_null()).select("source", "line", "last_line")
    return {
        (source, line)
        for source, first, last in dated.iter_rows()
        for line in range(first, (last or first) + 1)
    }


class _SortKey:
    """Sorts events by time; an undated event follows the last dated record above it in its log.

    No event of a worker precedes its start or follows its end.
    """

    def __init__(
        self,
        events: Sequence[Event],
        tables: Tables,
        clock: CommonClock,
        with_time: Container[tuple[str, int]],
        ended: Mapping[str, Event],
    ) -> None:
        undated = {event["source"] for event in events if event["time"] is None}
        records = tables["records"].drop_nulls("near").filter(pl.col("source").is_in(list(undated)))
        self._dated: dict[str, tuple[list[int], list[float]]] = {
            str(source): (
                part["line"].to_list(),
                [
                    clock.time(worker, str(source), near) or near
                    for worker, near in part.select("worker", "near").iter_rows()
                ],
            )
            for (source,), part in records.partition_by("source", as_dict=True).items()
        }
        lives = tables["lifetimes"].select("worker", "first_seen", "last_seen").iter_rows()
        self._lives = {worker: (first_seen, last_seen) for worker, first_seen, last_seen in lives}
        self._with_time = with_time
        self._reported = {worker: row["time"] for worker, row in ended.items()}
        for worker, time in first_reports(tables, clock, self._with_time).items():
            self._reported[worker] = min(time, self._reported.get(worker, time))

    def key(self, event: Event) -> tuple[float, str, int, int]:
        """Return (time, worker, phase, line); at equal time, a worker's start sorts first, its end last."""
        ends = event["kind"] in {"end", "silence", "last_seen"}
        phase = 0 if event["kind"] == "start" else 2 if ends else 1
        return (self._time(event), event["worker"] or "", phase, event["line"] or 0)

    def bounds(self, event: Event) -> dict[str, float]:
        """Return the earliest and latest possible time of an undated event; empty for a dated one.

        `after` is when the last dated line before it was printed, `before` when a peer first reported a loss,
        when a recording says that the process had ended, or when the next dated line was printed.
        """
        after = event.get("after", self._last_dated(event))
        if after is None:
            return {}
        reported = self._reported.get(event["worker"]) if event["kind"] in _FAILURES else None
        known = [time for time in (reported, self._below(event, after)) if time and time > after]
        return {"after": after} | ({"before": min(known)} if known else {})

    def _last_dated(self, event: Event) -> float | None:
        """Return the time of the last dated line before an event; None if its own line has one."""
        if event["kind"] == "error":
            dated = (event["source"], event["line"]) in self._with_time
            return None if dated else cast(float | None, event["time"])
        undated = event["time"] is None and event["kind"] in _MAY_BE_UNDATED
        return self._above(event) if undated else None

    def _above(self, event: Event) -> float | None:
        """Return the time of the last dated record above the event's line."""
        lines, times = self._dated.get(event["source"], ([], []))
        above = bisect_right(lines, event["line"] or 0)
        return times[above - 1] if above else None

    def _below(self, event: Event, after: float) -> float | None:
        """Return the time of the next dated record below the line of an undated event."""
        lines, times = self._dated.get(event["source"], ([], []))
        below = times[bisect_right(lines, event["line"] or 0) :] if event["kind"] in _MAY_BE_UNDATED else []
        return next((time for time in below if time > after), None)

    def _time(self, event: Event) -> float:
        if event["time"] is not None:
            return float(event["time"])
        first_seen, last_seen = self._lives.get(event["worker"], (None, None))
        guess = self._above(event)
        if guess is None:
            guess = -math.inf if event["source"] in self._dated else math.inf
        guess = guess if last_seen is None else min(guess, last_seen)
        return guess if first_seen is None else max(guess, first_seen)


def _event(row: dict[str, Any], kind: str, text: str) -> Event:
    time, worker, source, line = map(row.get, ("time", "worker", "source", "line"))
    made = {"time": time, "worker": worker, "kind": kind, "text": text, "source": source, "line": line}
    return made | ({"attempt": row["attempt"]} if row.get("attempt") else {})


def _milestones(tables: Tables) -> Iterator[Event]:
    milestones = wording()["milestones"]
    for row in tables["facts"].filter(pl.col("key").is_in(list(milestones))).iter_rows(named=True):
        kind, text = milestones[row["key"]]
        yield _event(row, kind, text.format(row["value"]))


def _starts(tables: Tables) -> Iterator[Event]:
    first = _edges(tables, "first_time")
    for life in tables["lifetimes"].filter(pl.col("first_seen").is_not_null()).iter_rows(named=True):
        source, line = first.get(life["worker"], (None, None))
        row = {"time": life["first_seen"], "worker": life["worker"], "source": source, "line": line}
        yield _event(row, "start", "first line")


def _restarts(tables: Tables) -> Iterator[Event]:
    """Yield the first dated line of each attempt after a worker's first."""
    records = tables["records"].select("worker", "attempt", "source", "line", "time")
    dated = records.drop_nulls(["worker", "time"])
    later = dated.filter(pl.col("attempt") > pl.col("attempt").min().over("worker"))
    ordered = later.sort("time", maintain_order=True)
    first = ordered.unique(["worker", "attempt"], keep="first", maintain_order=True)
    for row in first.iter_rows(named=True):
        yield _event(row, "start", f"attempt {row['attempt']}: first line")


def _edges(tables: Tables, column: Literal["first_time", "last_time"]) -> dict[str, tuple[str, int | None]]:
    """Return worker → (source, line) of its first or last dated record; without any, (file, None)."""
    at = 0 if column == "first_time" else -1
    files = tables["sources"].drop_nulls(["worker", column]).group_by("worker")
    file = pl.col("source").sort_by(column, "source").get(at)
    dated = tables["records"].select("worker", "source", "line", "time").drop_nulls(["worker", "time"])
    records = dated.group_by("worker")
    line = pl.col("source", "line").sort_by("time", maintain_order=True).get(at)
    found = {worker: (source, None) for worker, source in files.agg(file).iter_rows()}
    return found | {worker: (source, number) for worker, source, number in records.agg(line).iter_rows()}


def _progress(tables: Tables) -> Iterator[Event]:
    places = tables["scalars"].select("worker", "source", "line", "epoch", "step", "time")
    steps = places.drop_nulls(["line", "worker"]).filter(pl.col("step") > 0)
    kinds: Mapping[Literal["first", "last"], str] = {"first": "first_step", "last": "last_step"}
    for which, kind in kinds.items():
        for row in steps.unique("worker", keep=which, maintain_order=True).iter_rows(named=True):
            yield _event(row, kind, f"{kind.replace('_', ' ')} shown: {position(row['epoch'], row['step'])}")


def _bad_losses(tables: Tables) -> Iterator[Event]:
    """Yield an event for each loss that becomes NaN or infinite, and for each training loss that explodes."""
    losses = tables["curves"].filter(pl.col("quantity").is_in(_LOSSES))
    for row in losses.filter(pl.col("nonfinite") > 0).iter_rows(named=True):
        since = row["nonfinite_place"] or position(None, None)
        yield _event(row, "nonfinite", f"{row['tag']} not finite from {since} on")
    exploded = (pl.col("quantity") == "training_loss") & pl.col("exploded") & (pl.col("nonfinite") == 0)
    for row in losses.filter(exploded).iter_rows(named=True):
        since = position(row["exploded_epoch"], row["exploded_step"])
        yield _event(row, "exploded", f"{row['tag']} exploded from {since} on")


def _errors(tables: Tables, parts: Mapping[str, str]) -> Iterator[Event]:
    for row in tables["exceptions"].iter_rows(named=True):
        whose = "" if row["own"] or parts.get(row["worker"]) == "culprit" else " (passed on from a peer)"
        message = row["message"].partition("\n")[0]
        row["line"] = row["message_line"] or row["line"]
        yield _event(row, "error", f"{row['type']}{whose}: {shorten(message, 160)}".rstrip(": "))


def _accusations(tables: Tables) -> Iterator[Event]:
    for row in tables["accusations"].filter("counts").iter_rows(named=True):
        text = wording()["complaints"].get(row["kind"], "names {}").format(row["worker"])
        yield _event(row | {"worker": row["accuser"]}, "accusation", text)


def _ends(
    tables: Tables,
    parts: Mapping[str, str],
    cause: str | None,
    with_time: Container[tuple[str, int]],
    recorded: Mapping[str, Event],
) -> Iterator[Event]:
    """Yield the end of each worker; unless a file states its time, it is after the last dated line."""
    stated_codes = tables["facts"].filter(key="exit_code").select("worker", "source", "line")
    codes = {worker: (source, line) for worker, source, line in stated_codes.iter_rows()}
    finished = {row["worker"]: row for row in tables["facts"].filter(key="finished_at").iter_rows(named=True)}
    last = _edges(tables, "last_time")
    for life in tables["lifetimes"].iter_rows(named=True):
        worker = life["worker"]
        runs = life["ended"] == "running" or (life["ended"] == "unknown" and life["listed"])
        kind = "silence" if life["ended"] in {"vanished", "never_started"} else "last_seen" if runs else "end"
        shown = (life["end_source"], life["end_line"]) if life["end_source"] else None
        source, line = shown or codes.get(worker) or last.get(worker) or (None, None)
        row = {"time": life["last_seen"], "worker": worker, "source": source, "line": line}
        row["attempt"] = life["attempts"]
        end = recorded.get(worker)
        if end and end["attempt"] == max(1, life["attempts"]) and (not shown or shown not in with_time):
            yield _event(end, kind, end_of(life, parts[worker], cause))
            continue
        if (at := finished.get(worker)) and life["time"] is None and life["ended"] in _BY_EXIT_CODE:
            row |= {"time": datetime.fromisoformat(at["value"]).timestamp()} | {
                k: at[k] for k in ("source", "line")
            }
        event = _event(row, kind, end_of(life, parts[worker], cause))
        stated = row["time"] != life["last_seen"] or (
            life["time"] is not None and life["ended"] in _BY_EXIT_CODE
        )
        if stated or (life["ended"] == "finished" and shown in with_time) or life["last_seen"] is None:
            yield event
        else:
            yield event | {"after": life["last_seen"]}


def _end_of_job(tables: Tables) -> Iterator[Event]:
    """Yield when the scheduler says that it ended the job; nothing if a worker's log goes on after that."""
    last_seen = tables["lifetimes"]["last_seen"].max()
    for row in tables["facts"].filter(key="cancelled_at").tail(1).iter_rows(named=True):
        try:
            time = datetime.fromisoformat(row["value"]).replace(tzinfo=UTC).timestamp()
        except ValueError:
            return
        if last_seen is None or time >= cast(float, last_seen):
            yield _event(row | {"time": time, "worker": None}, "end", "the scheduler ended the job")


def _checkpoints(tables: Tables) -> Iterator[Event]:
    """Yield the last checkpoint of each worker."""
    saved = tables["facts"].filter((pl.col("key") == "checkpoint") & pl.col("worker").is_not_null())
    last = saved.group_by("worker", maintain_order=True).agg(pl.all().last(), count=pl.len())
    for row in last.iter_rows(named=True):
        which = f" (the last of {row['count']})" if row["count"] > 1 else ""
        yield _event(row, "checkpoint", f"checkpoint {row['value']}{which}")


def _compilations(paused: Mapping[str, Sequence[PauseInterval]]) -> Iterator[Event]:
    """Yield the longest compilation of each worker."""
    for worker, own in paused.items():
        compiled = [pause for pause in own if pause["kind"] == "compile"]
        if compiled:
            longest = max(compiled, key=lambda pause: pause["end"] - pause["start"])
            took = longest["end"] - longest["start"]
            row = {"time": longest["start"], "worker": worker, "source": longest["source"]}
            yield _event(row, "compile", f"compiled for {took:.1f} s")
