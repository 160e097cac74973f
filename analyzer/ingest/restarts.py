"""Which life of its worker everything belongs to, from 1.

Some schedulers count attempts from 0. And one log can hold several lives, of a worker that was restarted
into the same file.

A process starts one gRPC server, so the second `Started server` begins the second life; it reaches back to
the banner that TensorFlow prints when it is loaded, or to where Slurm says that it requeued the job. The
other logs of the worker, as its stdout, are parted at the same times, or where they begin anew themselves.
Each life writes event files of its own.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from itertools import pairwise
from math import inf
from typing import Any, NamedTuple

from analyzer.ingest.reader_output import Row, SourceRows
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import attempt_of, is_previous, log_of

Place = tuple[int, float]
"""A part of a rotated log, and a line of it."""

_SAID_ONCE = ("tensorflow", "task", "python", "host", "num_workers", "replicas", "strategy")
"""What a script says of itself when it starts, if it does; said again, it started again."""

_EVENTS = re.compile(r"tfevents\.(\d{9,})\.(.+)\.(\d+)\.\d+(?:\.v2)?(?:\.\w+)?$")
"""Name of an event file: when it was begun, host, process, and which of its writers."""

Lives = Mapping[str, AbstractSet[int]]
"""Worker → the numbers of its lives."""


class _Log(NamedTuple):
    """One log; a rotated one has several parts, the oldest first."""

    parts: tuple[SourceRows, ...]
    requeued: tuple[Place, ...] = ()

    def rows(self, table: str) -> Iterator[tuple[Place, Row]]:
        """The rows of a table that is never held in columns, with their places."""
        for number, part in enumerate(self.parts):
            for row in part.rows.get(table, ()):
                yield (number, row.get("line") or 0), row

    def cells(self, table: str, *names: str) -> Iterator[tuple[Place, tuple[Any, ...]]]:
        """Some cells of each row of a table, with its place."""
        for number, part in enumerate(self.parts):
            for line, *cells in part.cells(table, "line", *names):
                yield (number, line or 0), tuple(cells)

    def facts(self, key: str) -> list[tuple[Place, Row]]:
        """What it states under a key."""
        return [(place, row) for place, row in self.rows("facts") if row["key"] == key]


def number(outputs: Sequence[SourceRows]) -> None:
    """Give every row of the run its attempt."""
    _count_from_one(outputs)
    _follow(outputs)
    for logs in _by_worker(outputs).values():
        _split(logs)
    lives = _lives(outputs)
    _match_events(outputs, lives)
    _close(outputs, lives)


def _count_from_one(outputs: Sequence[SourceRows]) -> None:
    """Where any name of the run counts attempts from 0, count all that are named on by one."""
    named = [r for r in outputs if attempt_of(r.source.name) is not None]
    rows = [row for r in outputs for row in r.rows.get("facts", []) if "attempt" in row]
    if 0 not in {*(r.source.attempt for r in named), *(row["attempt"] for row in rows)}:
        return
    for output in named:
        output.source = output.source._replace(attempt=output.source.attempt + 1)
    for row in rows:
        row["attempt"] += 1


def _follow(outputs: Sequence[SourceRows]) -> None:
    """A log whose name counts nothing is of the last life, unless its first restart is named."""
    restarts = _restarts(outputs)
    for worker in {r.source.worker for r in outputs if r.source.worker}:
        logs = [r for r in outputs if r.source.worker == worker and r.source.kind is Kind.LOG]
        named = {r.source.attempt for r in logs if attempt_of(r.source.name) is not None}
        earlier = any(is_previous(r.source.name) for r in logs)
        last = 1 + (
            restarts.get(worker or "", int(earlier)) if not named else max(named) if 1 in named else 0
        )
        for output in logs:
            if attempt_of(output.source.name) is None:
                life = last - 1 if is_previous(output.source.name) else last
                output.source = output.source._replace(attempt=max(1, life))


def _restarts(outputs: Sequence[SourceRows]) -> dict[str, int]:
    """Worker → how often Kubernetes says that it was restarted."""
    facts = [row for r in outputs for row in r.rows.get("facts", []) if row["key"] == "restarts"]
    return {row["worker"]: int(row["value"]) for row in facts}


def _by_worker(outputs: Sequence[SourceRows]) -> Mapping[object, list[_Log]]:
    """The logs of each worker's attempt, as far as names tell."""
    parts: dict[tuple[str | None, int, str], list[SourceRows]] = {}
    requeued: dict[str, list[Place]] = {}
    for output in outputs:
        if output.source.kind is Kind.LOG and output.source.worker:
            name = log_of(output.source.name)
            log = parts.setdefault((output.source.worker, output.source.attempt, name), [])
            log.append(output)
            said = [row["line"] for row in output.rows.get("facts", []) if row["key"] == "requeued"]
            requeued.setdefault(_file(name), []).extend((len(log) - 1, line) for line in said)
    found: dict[object, list[_Log]] = {}
    for (worker, attempt, name), log in parts.items():
        found.setdefault((worker, attempt), []).append(_Log(tuple(log), tuple(sorted(requeued[_file(name)]))))
    return found


def _file(name: str) -> str:
    """The file that a stream is part of; a job is requeued for all of them."""
    return name.partition("#")[0]


def _split(logs: Sequence[_Log]) -> None:
    """Give every row of logs that hold several lives of one worker its attempt."""
    starts = [_starts(log) for log in logs]
    most = max(starts, key=len)
    if not most:
        return
    times = _times(logs[starts.index(most)], most)
    for log, own in zip(logs, starts, strict=True):
        if len(own) == len(most):
            _number(log, own)
        else:
            _number(log, _alike(log, times))


def _number(log: _Log, starts: Sequence[Place]) -> None:
    for number, part in enumerate(log.parts):
        part.number_lives(partial(_life, part.source.attempt, starts, number))


def _life(first: int, starts: Sequence[Place], part: int, line: int) -> int:
    """The life that a line of a part lies in; `starts` are those of the lives behind the first."""
    return first + bisect_right(starts, (part, line))


def _starts(log: _Log) -> list[Place]:
    """First lines of the second life and of those after it."""
    servers = [place for place, _ in log.facts("server_address")]
    banners = [place for place, _ in log.facts("process_banner")]
    starts = []
    for before, server in pairwise(servers):
        told = [_behind(place) for place in log.requeued if before < place < server]
        between = told or [banner for banner in banners if before < banner < server]
        starts.append(between[-1] if between else server)
    behind_all = [place for place in log.requeued if servers and place > servers[-1]]
    if behind_all and _lives_on(log, behind_all[-1]):
        starts.append(_behind(behind_all[-1]))
    return starts


def _behind(place: Place) -> Place:
    return place[0], place[1] + 1


def _lives_on(log: _Log, place: Place) -> bool:
    """Whether a process speaks behind a place, and not only the scheduler."""
    return any(
        at > place and row["kind"] in {"cpp", "traceback", "progress"} for at, row in log.rows("records")
    )


def _times(log: _Log, starts: Sequence[Place]) -> list[float]:
    """When lives began, as far as the log that shows them is dated; then what is missing is never."""
    dated = _dated(log)
    return [next((time for place, time in dated if place >= start), inf) for start in starts]


def _dated(log: _Log) -> list[tuple[Place, float]]:
    told = (each for table in ("records", "scalars", "facts") for each in log.cells(table, "time"))
    return sorted((place, time) for place, (time,) in told if time is not None)


def _alike(log: _Log, times: Sequence[float]) -> list[Place]:
    """Where the lives begin that another log of the worker shows."""
    ways: Sequence[Callable[[], list[Place]]] = (
        lambda: _by_words(log, len(times)),
        lambda: _by_time(log, times),
        lambda: _by_progress(log, len(times)),
    )
    for way in ways:
        if found := way():
            return found
    told = [each for each in log.parts if each.has_rows]
    if not told:
        return [(0, 0.0)] * len(times)
    part = told[-1]
    what = (
        f"holds {len(times) + 1} lives of {part.source.worker}, and nothing in it tells where one ends; "
        "all of it is taken for the last"
    )
    part.add_damage(what)
    return [(0, 0.0)] * len(times)


def _by_words(log: _Log, count: int) -> list[Place]:
    """Where it says again what a script says of itself when it starts."""
    said = [[place for place, _ in log.facts(key)] for key in _SAID_ONCE]
    found = [places[1:] for places in said if len(places) == count + 1]
    return [min(each) for each in zip(*found, strict=True)]


def _by_time(log: _Log, times: Sequence[float]) -> list[Place]:
    dated = _dated(log)
    if not dated or inf in times:
        return []
    return [next((place for place, own in dated if own >= time), (len(log.parts), 0.0)) for time in times]


def _by_progress(log: _Log, count: int) -> list[Place]:
    """Where it goes back to an earlier epoch or step, or begins one again, if once for every restart."""
    found: list[Place] = []
    before = (0, 0)
    told = sorted(log.cells("scalars", "tag", "epoch", "step"), key=lambda each: each[0])
    for place, (tag, epoch, step) in told:
        if tag in {"epoch", "step"}:
            now = (epoch or 0, step or 0)
            again = tag == "epoch" and epoch == before[0]
            if (now < before or again) and (not found or place > found[-1]):
                found.append(place)
            before = now
    return found if len(found) == count else []


def _match_events(outputs: Sequence[SourceRows], lives: Lives) -> None:
    """Give event files the lives that the logs of their workers show."""
    restarted = {worker for worker, numbers in lives.items() if max(numbers) > 1}
    begun: dict[tuple[str, int], float] = {}
    for output in outputs:
        if output.source.worker in restarted and output.source.kind is Kind.LOG:
            for attempt, time in _lived(output):
                life = output.source.worker, attempt
                begun[life] = min(begun.get(life, inf), time or inf)
    for worker in restarted:
        own = [(r, made) for r in outputs if r.source.worker == worker and (made := _made_by(r))]
        later = sorted(lives[worker])[1:]
        numbers = _which([made for _, made in own], [begun[worker, life] for life in later])
        for (output, _), number in zip(own, numbers, strict=False):
            output.source = output.source._replace(attempt=sorted(lives[worker])[number])


def _which(made: Sequence[tuple[float, str]], starts: Sequence[float]) -> Sequence[int]:
    """Which life each event file is of, from 0; by its process, or by its time. Empty where neither tells."""
    processes = list(dict.fromkeys(process for _, process in sorted(made)))
    if len(processes) == len(starts) + 1:
        return [processes.index(process) for _, process in made]
    by_time = [bisect_right(starts, time) for time, _ in made]
    return by_time if inf not in starts and {0, len(starts)} <= set(by_time) else ()


def _made_by(output: SourceRows) -> tuple[float, str] | None:
    """When an event file was begun and by which process, by a name that counts no attempts."""
    source = output.source
    found = _EVENTS.search(source.name) if source.kind is Kind.EVENT_FILE else None
    if not found or attempt_of(source.name) is not None:
        return None
    return float(found[1]), f"{found[2]}.{found[3]}"


def _close(outputs: Sequence[SourceRows], lives: Lives) -> None:
    """An exit code that is not said to be of another life is that of the last one."""
    for output in outputs:
        if attempt_of(output.source.name) is None:
            for row in output.rows.get("facts", []):
                if row["key"] == "exit_code" and "attempt" not in row:
                    whose = row.get("worker", output.source.worker) or ""
                    row["attempt"] = max(lives.get(whose, {output.source.attempt}))


def _lives(outputs: Sequence[SourceRows]) -> Lives:
    """What each worker's logs tell rows of."""
    found: dict[str, set[int]] = {}
    for output in outputs:
        if output.source.kind is Kind.LOG and output.source.worker:
            own = found.setdefault(output.source.worker, set())
            own |= {attempt for attempt, _ in _lived(output)}
    return {worker: numbers for worker, numbers in found.items() if numbers}


def _lived(output: SourceRows) -> Iterator[tuple[int, float | None]]:
    """The life and the time of each thing that a log tells."""
    for table in ("records", "scalars"):
        for attempt, time in output.cells(table, "attempt", "time"):
            yield output.source.attempt if attempt is None else attempt, time
