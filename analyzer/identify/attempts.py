"""Assigns sources and log lines to attempts of their worker, numbered from 1.

Some schedulers count attempts from 0, and a log can hold several attempts if a restarted worker appends to
it. A file that is named as one attempt may hold several; the numbers of later files then move up. Logs such
as the kubelet's `0.log` and `1.log` are of several if each has a start and one ends before the other begins.

A process starts one gRPC server, so the second `Started server` marks the second attempt; it begins at the
preceding TensorFlow start-up banner, or where Slurm reports a requeue. The worker's other logs, e.g. stdout,
are split at the same times, or where their own content restarts. Each attempt writes its own event files.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise
from math import inf
from pathlib import PurePosixPath
from typing import NamedTuple

import polars as pl

from analyzer.identify.statements import SAID_AT_START, NamedSource, Statement, Statements, with_rows
from analyzer.model.lazy_regex import lazy_regex
from analyzer.model.run import Tables
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import is_previous, log_of
from analyzer.tables.grouping import grouped

Place = tuple[int, float]
"""(number of a part of a rotated log, line in that part)."""

_EVENTS = lazy_regex(r"tfevents\.(\d{9,})\.(.+)\.(\d+)\.\d+(?:\.v2)?(?:\.\w+)?$")
"""Regex of event file names; groups: creation time, host, process."""


class Attempts(NamedTuple):
    """The attempts of all sources of a run."""

    named: dict[str, int]
    """Source → its attempt (of a log with several, the first)."""
    starts: dict[str, list[int]]
    """Source → the lines at which further attempts begin, in order; 0 where one began in an older part."""
    unparted: dict[str, str]
    """Source → why the attempts in it cannot be separated."""
    held: dict[str, dict[int, int]]
    """Worker → attempt in the names of its logs → how many attempts those logs hold."""

    def before(self, worker: str | None, attempt: int | None) -> int:
        """Return how many more attempts the logs of earlier attempts hold than their names say."""
        own = self.held.get(worker or "", {})
        return sum(count - 1 for each, count in own.items() if each < (attempt or 0))

    def last(self, worker: str | None, attempt: int | None) -> int | None:
        """Return the last attempt in the logs that are named after this attempt: these may hold several."""
        several = len(self.held.get(worker or "", {})) > 1
        return attempt + self.before(worker, attempt + 1) if attempt and several else attempt


class _Log(NamedTuple):
    """One log; a rotated log has several parts, oldest first."""

    worker: str
    parts: tuple[str, ...]
    stated: Statements
    tables: Tables
    requeued: tuple[Place, ...] = ()

    def facts(self, *keys: str) -> list[tuple[Place, Statement]]:
        """Return (place, statement) of each statement with one of these keys."""
        return [
            ((number, fact.line), fact)
            for number, part in enumerate(self.parts)
            for fact in self.stated.get(part, ())
            if fact.key in keys
        ]

    def cells(self, table: str, *names: str) -> Iterator[tuple[Place, tuple[object, ...]]]:
        """Yield the place and the selected cells of each row of a table."""
        own = self.tables[table].filter(pl.col("source").is_in(self.parts)).select("source", "line", *names)
        for source, line, *cells in own.iter_rows():
            yield (self.parts.index(source), line or 0), tuple(cells)

    def dated(self) -> list[tuple[Place, float]]:
        """Return (place, time) of each dated row, in order."""
        rows = (row for table in ("records", "scalars", "facts") for row in self.cells(table, "time"))
        return sorted((place, float(str(time))) for place, (time,) in rows if time is not None)


def attempts(sources: Sequence[NamedSource], stated: Statements, tables: Tables) -> Attempts:
    """Return the attempts of all sources, whose workers must be known; does not split event files."""
    found = Attempts(_named_attempts(sources, stated), {}, {}, {})
    found.named.update(_in_sequence(sources, found.named, tables))
    for (worker, attempt), logs in _logs_by_attempt(sources, found.named, stated, tables).items():
        found.held.setdefault(worker, {})[attempt] = 1 + _split(logs, found)
    for source in sources:
        found.named[source.name] += found.before(source.worker, found.named[source.name])
    return found


def counts_from_zero(sources: Sequence[NamedSource], facts: pl.DataFrame) -> bool:
    """Return True if a source name or a fact states attempt 0."""
    return 0 in facts["attempt"] or any(source.attempt == 0 for source in sources)


def _named_attempts(sources: Sequence[NamedSource], stated: Statements) -> dict[str, int]:
    """Return source → attempt, from its name and the stated restarts.

    A log without an attempt number belongs to the last attempt, or to the one before if its name says so
    (`previous`). If other logs have numbers, but not 1, it belongs to attempt 1. While a container waits for
    its next start, `kubectl logs --previous` gives the log of its last attempt again.
    """
    found = {source.name: source.attempt for source in sources}
    restarts = _restarts(stated)
    for worker, logs in _logs_of(sources).items():
        named = [log.attempt for log in logs if log.numbered]
        latest = {log.content for log in logs if not is_previous(log.name)} - {()}
        previous = {log.name for log in logs if is_previous(log.name) and log.content not in latest}
        before = restarts.get(worker, int(bool(previous))) if not named else max(named) if 1 in named else 0
        for log in logs:
            if not log.numbered:
                found[log.name] = max(1, before + (log.name not in previous))
    return found


def _in_sequence(sources: Sequence[NamedSource], named: Mapping[str, int], tables: Tables) -> dict[str, int]:
    """Return log → attempt for the logs of workers whose names number none, though one follows another."""
    starting = {*tables["facts"].filter(pl.col("time").is_not_null(), key="server_address")["source"]}
    dated = tables["sources"].drop_nulls(["first_time", "last_time"])
    spans = {name: (first, last) for name, first, last in dated["source", "first_time", "last_time"].rows()}
    found: dict[str, int] = {}
    for logs in _logs_of(sources).values():
        of_others = (log.numbered or is_previous(log.name) or named[log.name] != 1 for log in logs)
        if len(logs) > 1 and not any(of_others):
            found |= _numbered_by_time([log.name for log in logs], starting, spans)
    return found


def _numbered_by_time(
    logs: Sequence[str], starting: AbstractSet[str], spans: Mapping[str, tuple[float, float]]
) -> Iterator[tuple[str, int]]:
    """Yield log and attempt; nothing unless several logs have a start, and none of these overlaps another.

    A log without a start is of the attempt whose log has its name but for the suffix, else of the last.
    """
    parts = grouped((log_of(log), log) for log in logs)
    begun = [log for log, own in parts.items() if not starting.isdisjoint(own) and spans.keys() >= {*own}]
    first, last = ({log: end(spans[each][at] for each in parts[log]) for log in begun}
                   for at, end in enumerate((min, max)))  # fmt: skip
    begun.sort(key=first.__getitem__)
    if len(begun) < 2 or any(last[log] >= first[after] for log, after in pairwise(begun)):
        return
    attempt = {PurePosixPath(log).with_suffix(""): number for number, log in enumerate(begun, 1)}
    for log, own in parts.items():
        yield from ((each, attempt.get(PurePosixPath(log).with_suffix(""), len(begun))) for each in own)


def _logs_of(sources: Sequence[NamedSource]) -> Mapping[str, Sequence[NamedSource]]:
    """Return worker → its logs."""
    return grouped((source.worker, source) for source in sources if source.is_log and source.worker)


def _restarts(stated: Statements) -> dict[str, int]:
    """Return worker → number of restarts that Kubernetes reports."""
    facts = (fact for facts in stated.values() for fact in facts if fact.key == "restarts")
    return {fact.worker or "": int(fact.value) for fact in facts}


def _logs_by_attempt(
    sources: Sequence[NamedSource], named: Mapping[str, int], stated: Statements, tables: Tables
) -> Mapping[tuple[str, int], list[_Log]]:
    """Return (worker, attempt) → its logs; `named` is source → the attempt in its name."""
    facts = [(stream, fact) for stream, facts in stated.items() for fact in facts]
    requeued = grouped((_file(stream), fact.line) for stream, fact in facts if fact.key == "requeued")
    logs = (log for own in _logs_of(sources).values() for log in own)
    parts = grouped(((log.worker or "", named[log.name], log_of(log.name)), log.name) for log in logs)
    found: dict[tuple[str, int], list[_Log]] = {}
    for (worker, attempt, _), log in parts.items():
        places = sorted((n, line) for n, part in enumerate(log) for line in requeued.get(_file(part), ()))
        whole = _Log(worker, tuple(log), stated, tables, tuple(places))
        found.setdefault((worker, attempt), []).append(whole)
    return found


def _file(name: str) -> str:
    """Return the file name of a stream `FILE#LABEL`."""
    return name.partition("#")[0]


def _split(logs: Sequence[_Log], found: Attempts) -> int:
    """Add to `found` where further attempts begin in one worker's logs, and return how many.

    The log with the most starts decides.
    """
    starts = [_starts(log) for log in logs]
    most = max(starts, key=len)
    if not most:
        return 0
    times = _times(logs[starts.index(most)], most)
    for log, own in zip(logs, starts, strict=True):
        places = sorted(own if len(own) == len(most) else _starts_from_other_log(log, times, found))
        for number, part in enumerate(log.parts):
            begun = (place for place in places if place[0] <= number)
            found.starts[part] = [int(line) if where == number else 0 for where, line in begun]
    return len(most)


def _starts(log: _Log) -> list[Place]:
    """Return the first lines of the second and later attempts."""
    servers = [place for place, _ in log.facts("server_address")]
    banners = [place for place, _ in log.facts("process_banner")]
    starts = []
    for before, server in pairwise(servers):
        requeues = [_next_line(place) for place in log.requeued if before < place < server]
        between = requeues or [banner for banner in banners if before < banner < server]
        starts.append(between[-1] if between else server)
    after_all = [place for place in log.requeued if servers and place > servers[-1]]
    if after_all and _process_speaks_after(log, after_all[-1]):
        starts.append(_next_line(after_all[-1]))
    return starts


def _next_line(place: Place) -> Place:
    return place[0], place[1] + 1


def _process_speaks_after(log: _Log, place: Place) -> bool:
    """Return True if a process, and not only the scheduler, logged something after a place."""
    speaking = {"cpp", "traceback", "progress"}
    return any(at > place and kind in speaking for at, (kind,) in log.cells("records", "kind"))


def _times(log: _Log, starts: Sequence[Place]) -> list[float]:
    """Return the times at which attempts began; infinity where the log is undated."""
    dated = log.dated()
    return [next((time for place, time in dated if place >= start), inf) for start in starts]


def _starts_from_other_log(log: _Log, times: Sequence[float], found: Attempts) -> list[Place]:
    """Return where attempts begin in a log; `times` are those at which they begin in another log.

    If nothing in the log shows it, all of its lines count as the last attempt.
    """
    starts = _by_startup_lines(log, len(times)) or _by_time(log, times) or _by_progress(log, len(times))
    if starts:
        return starts
    if read := [part for part in log.parts if part in with_rows(log.tables, log.parts)]:
        found.unparted[read[-1]] = (
            f"holds {len(times) + 1} attempts of {log.worker}, and nothing in it shows where one ends; "
            "all of it is assigned to the last"
        )
    return [(0, 0.0)] * len(times)


def _by_startup_lines(log: _Log, count: int) -> list[Place]:
    """Return where the script's start-up messages repeat; empty unless exactly `count` times."""
    repeated = [[place for place, _ in log.facts(key)] for key in SAID_AT_START]
    found = [places[1:] for places in repeated if len(places) == count + 1]
    return [min(each) for each in zip(*found, strict=True)]


def _by_time(log: _Log, times: Sequence[float]) -> list[Place]:
    dated = log.dated()
    if not dated or inf in times:
        return []
    return [next((place for place, own in dated if own >= time), (len(log.parts), 0.0)) for time in times]


def _by_progress(log: _Log, count: int) -> list[Place]:
    """Return the places where epoch or step falls back; empty if their number is not `count`."""
    found: list[Place] = []
    before: tuple[object, ...] = (0, 0)
    rows = log.cells("scalars", "tag", "epoch", "step")
    for place, (tag, epoch, step) in sorted(rows, key=lambda row: row[0]):
        if tag in {"epoch", "step"}:
            now = (epoch or 0, step or 0)
            again = tag == "epoch" and epoch == before[0]
            if (now < before or again) and (not found or place > found[-1]):
                found.append(place)
            before = now
    return found if len(found) == count else []


def event_file_attempts(
    sources: Sequence[NamedSource], begun: Mapping[str, Mapping[int, float]]
) -> dict[str, int]:
    """Return event file → attempt, for the workers whose logs have several attempts.

    `begun` is worker → attempt → first time in its logs; infinity if they have no times.
    """
    found: dict[str, int] = {}
    for worker, numbers in begun.items():
        if max(numbers) > 1:
            own = (each for each in sources if each.worker == worker)
            files = {each.name: made for each in own if (made := _made_by(each))}
            attempts = sorted(numbers)
            places = _places_among([*files.values()], [numbers[attempt] for attempt in attempts[1:]])
            found |= {name: attempts[place] for name, place in zip(files, places, strict=False)}
    return found


def _places_among(made: Sequence[tuple[float, str]], starts: Sequence[float]) -> Sequence[int]:
    """Return the attempt index of each event file, from its process or time; empty if unknown."""
    processes = list(dict.fromkeys(process for _, process in sorted(made)))
    if len(processes) == len(starts) + 1:
        return [processes.index(process) for _, process in made]
    by_time = [bisect_right(starts, time) for time, _ in made]
    return by_time if inf not in starts and {0, len(starts)} <= set(by_time) else ()


def _made_by(source: NamedSource) -> tuple[float, str] | None:
    """Return creation time and process of an event file; None if its name states an attempt."""
    may_be = source.kind == Kind.EVENT_FILE.value and not source.numbered
    found = _EVENTS.search(source.name) if may_be else None
    return (float(found[1]), f"{found[2]}.{found[3]}") if found else None
