"""Gathers what is known about the last attempt of each worker."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from signal import SIGABRT, SIGTERM
from typing import Any

import polars as pl

from analyzer.derive.cluster.membership import CLUSTER, SERVICE
from analyzer.derive.cluster.workers import cluster_specs, distinct, tasks_of
from analyzer.derive.endings.last_errors import LastError
from analyzer.derive.endings.teardown import NOT_SENT_BY_LAUNCHERS, reported_later
from analyzer.derive.training.ordering import Row, comes_after
from analyzer.derive.training.progress import (
    Place,
    comparable,
    last_attempts,
    last_places,
    stepped,
    times_seen,
)
from analyzer.model.messages import Wording
from analyzer.tables.clock_alignment import CommonClock

_TAIL = 5
"""Number of records kept from the end of each log: an error, and the lines with which a program leaves."""


@dataclass(slots=True)
class Life:
    """Everything known about the last attempt of one worker."""

    worker: str
    row: Mapping[str, Any]
    attempts: int = 0
    facts: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    records: list[dict[str, Any]] = field(default_factory=list)
    tail: list[dict[str, Any]] = field(default_factory=list)
    """The last few records of each of its logs, in order."""
    place: Place | None = None
    stepped: bool = False
    first_line: int | None = None
    """The first line with progress of the log of its place."""
    closing: Mapping[str, Any] | None = None
    exception: Mapping[str, Any] | None = None
    last_error: LastError | None = None
    """The error of its own program with which its log ends."""
    own_exception: bool = False
    absence_tells: bool = True
    """Whether missing files mean that it never ran: a cluster lists it, or half of its peers left files."""
    seen_by_peers: bool = False
    """Whether files of its peers show that it ran."""
    times: tuple[float | None, float | None] = (None, None)
    """First and last time in its files, on the common clock."""
    served: float | None = None
    """When its server last started, on the common clock."""
    joined: float | None = None
    torn_down: bool = False
    """Whether a launcher reports the end of another worker before its own."""
    lingers: Wording = field(default_factory=lambda: Wording(()))
    """What a script says that only waits to be ended."""

    def fact(self, key: str) -> str | None:
        """Return the last value stated for a key; None if there is none."""
        return self.facts[key][-1]["value"] if self.facts[key] else None

    def only_number(self, key: str) -> int | None:
        """Return the value of a fact as a number; None if no value, or more than one, was stated."""
        stated = {row["value"] for row in self.facts[key]}
        return int(stated.pop()) if len(stated) == 1 else None

    @property
    def attempt(self) -> int:
        """Return the number of the last attempt, from 1."""
        return max(1, self.attempts)

    @property
    def killed_for_memory(self) -> bool:
        """Return True if the scheduler or the control group says that it was OOM-killed."""
        return bool(self.facts["out_of_memory"] or self.facts["oom_kill"])

    @property
    def ended_after_another(self) -> bool:
        """Return True if its failure was reported after another's, and a launcher may have caused it."""
        return self.torn_down and self.fact("exit_code") not in NOT_SENT_BY_LAUNCHERS

    @property
    def left_on_sigterm(self) -> bool:
        """Return True if it caught SIGTERM after its last step, before the planned end.

        What it says then is no report of completion, unless that is of the training.
        """
        place, closing = self.place, self.closing
        if not self.facts["sigterm"] or place is None or place.is_planned_end:
            return False
        caught = self.facts["sigterm"][0]
        done = closing is not None and (closing["of_training"] or not _follows(closing, caught))
        return not done and (bool(comes_after(caught, place._asdict())) or self._is_flushed_below(caught))

    @property
    def trained_after_sigterm(self) -> bool:
        """Return True if it made progress after it caught SIGTERM."""
        caught = next(iter(self.facts["sigterm"]), None)
        if caught is None or self.place is None or self._is_flushed_below(caught):
            return False
        return bool(comes_after(self.place._asdict(), caught))

    def _is_flushed_below(self, caught: Row) -> bool:
        """Return True if all its progress stands undated below the line: stdout, flushed as it ended."""
        place, first = self.place, self.first_line
        undated = place is not None and place.time is None and place.source == caught["source"]
        return undated and None not in (first, caught["line"]) and first > caught["line"]

    @property
    def aborted_at_exit(self) -> bool:
        """Return True if the process aborted after its closing line, and no Python code then ran."""
        raised, code = self.exception, self.exit_code
        if not raised or not self.closing or code not in {None, -SIGABRT}:
            return False
        native = raised["type"] == "FatalPythonError" and raised["message"].startswith("Aborted")
        running = any(' (most recent call first):\n  File "' in row["text"] for row in self.tail)
        return native and not running and bool(comes_after(raised, self.closing))

    @property
    def raised_short_of_plan(self) -> bool:
        """Return True if its own exception ended the training, and much of the plan that it states was left.

        What a script around the training says below it (`pipeline finished`) does not undo that. A line that
        says that the training itself was done, such as that of early stopping, does.
        """
        raised, place = self.exception, self.place
        if raised is None or not raised["own"] or place is None or not place.is_far_from_plan:
            return False
        trained = self.closing is not None and self.closing["trained"]
        return not trained and bool(comes_after(raised, place._asdict()))

    @property
    def terminated_after_closing(self) -> bool:
        """Return True if SIGTERM ended a process that had already said that it was done.

        After that line, only TensorFlow may have logged, or the script that it waits to be ended.
        """
        closing = self.closing
        if closing is None or self.exit_code != -SIGTERM:
            return False
        below = [row for row in self.tail if row["kind"] != "cpp" and comes_after(row, closing)]
        return all(self.lingers.is_in(row["text"]) for row in below)

    @property
    def exception_message(self) -> Mapping[str, Any]:
        """Return the last exception at the line of its message, which may stand below its name."""
        raised = self.exception or {}
        return {**raised, "line": raised.get("message_line") or raised.get("line")}

    @property
    def exit_code(self) -> int | None:
        """Return the exit code; None if no file has it, or one says that the worker still ran."""
        code = self.fact("exit_code")
        return int(code) if code not in {None, "running"} else None


def _follows(row: Row, other: Row) -> bool:
    """Return True if `row` was logged after `other`, or on the same line of the same file."""
    return (row["source"], row["line"]) == (other["source"], other["line"]) or bool(comes_after(row, other))


def last_lives(
    tables: Mapping[str, pl.DataFrame],
    workers: pl.DataFrame,
    exceptions: pl.DataFrame,
    clock: CommonClock,
    done: Mapping[tuple[str, int], Row],
) -> list[Life]:
    """Return the last attempt of each worker; `done` is (worker, attempt) → its completion line."""
    attempts, torn_down = last_attempts(tables), reported_later(tables["facts"], tables["sources"])
    lives = {}
    for row in workers.iter_rows(named=True):
        worker = row["worker"]
        lives[worker] = Life(worker, row, attempts.get(worker, 0), torn_down=worker in torn_down)
    for life, row in _of_last_attempts(tables["facts"], lives):
        life.facts[row["key"]].append(row)
    _add_progress(lives.values(), tables, clock, done)
    _add_records(lives, tables["records"])
    _add_exceptions(lives, exceptions)
    _add_presence(lives.values(), tables["facts"])
    return list(lives.values())


def _add_progress(
    lives: Iterable[Life],
    tables: Mapping[str, pl.DataFrame],
    clock: CommonClock,
    done: Mapping[tuple[str, int], Row],
) -> None:
    """Set the last epoch and step of each life, and when it began, was last seen, and joined the cluster."""
    places, trained = last_places(tables["scalars"]), stepped(tables["scalars"])
    spans = times_seen(tables["sources"], clock)
    lines = tables["scalars"].drop_nulls("line").group_by("source").agg(pl.col("line").min())
    first = dict(lines.iter_rows())
    for life in lives:
        key = (life.worker, life.attempt)
        life.place, life.stepped, life.closing = places.get(key), key in trained, done.get(key)
        if life.place and any(comes_after(row, life.place._asdict()) for row in life.facts["excerpt_begins"]):
            life.place, life.closing = life.place._replace(epochs=None, steps=None), None
        if life.place:
            life.place = life.place.with_plan(
                life.only_number("planned_steps"), life.only_number("planned_epochs")
            )
        life.first_line = first.get(life.place.source) if life.place else None
        life.times = spans.get(life.worker, (None, None))
        life.served, life.joined = (
            clock.time(life.worker, rows[-1]["source"], rows[-1]["time"]) if rows else None
            for rows in (life.facts["server_address"], life.facts["agent_connected"])
        )


def _of_last_attempts(rows: pl.DataFrame, lives: Mapping[str, Life]) -> Iterator[tuple[Life, dict[str, Any]]]:
    """Yield (life, row) for each row that belongs to the last attempt of its worker."""
    for row in rows.iter_rows(named=True):
        if (life := lives.get(row["worker"])) and row["attempt"] == life.attempt:
            yield life, row


def _add_records(lives: Mapping[str, Life], records: pl.DataFrame) -> None:
    """Add to each life its latest records, or all of them if its training position is unknown.

    What a launcher says of its exit below them is none of its own.
    """
    placeless = [life.worker for life in lives.values() if life.place is None]
    near = pl.col("near").fill_null(0.0)
    latest = near == near.max().over("worker", "attempt")
    telling = records.filter(latest | pl.col("worker").is_in(placeless))
    codes = {(row["source"], row["line"]) for life in lives.values() for row in life.facts["exit_code"]}
    for life, row in _of_last_attempts(telling, lives):
        if (row["source"], row["line"]) not in codes:
            life.records.append(row)
    for life, row in _of_last_attempts(_tails(records), lives):
        if (row["source"], row["line"]) not in codes:
            life.tail.append(row)


def _tails(records: pl.DataFrame) -> pl.DataFrame:
    """Return the last records of each log, of the attempt in which it ends."""
    by_log = records.filter(pl.col("worker").is_not_null()).group_by("worker", "source", maintain_order=True)
    return by_log.tail(_TAIL).select(records.columns)


def _add_exceptions(lives: Mapping[str, Life], exceptions: pl.DataFrame) -> None:
    """Set the last exception of each life, and whether one was its own."""
    for life, row in _of_last_attempts(exceptions.filter("final"), lives):
        if life.exception is None or not comes_after(life.exception, row):
            life.exception = row
        life.own_exception = life.own_exception or (row["own"] and not row["runtime"])


def _add_presence(lives: Collection[Life], facts: pl.DataFrame) -> None:
    """Set whether missing files mean that a worker never ran, and whether its peers saw it run."""
    half_here = 2 * sum(life.row["seen"] for life in lives) >= len(lives)
    seen = _seen_by_peers(lives, facts)
    for life in lives:
        life.absence_tells = half_here or life.row["known_by"] in {CLUSTER, SERVICE}
        life.seen_by_peers = life.worker in seen


def _seen_by_peers(lives: Collection[Life], facts: pl.DataFrame) -> set[str]:
    """Return the tasks that peers show to have run: connected, leader of a connected peer, or in a step."""
    seen = set(facts.filter(key="connected")["value"])
    if any(life.facts["agent_connected"] for life in lives):
        seen |= {life.worker for life in lives if life.row["leader"]}
    specs, trainers = cluster_specs(facts), [life for life in lives if life.row["trains"]]
    running = [life for life in trainers if life.stepped]
    training = {life.worker for life in trainers}
    meeting = (life for life in running if life.row["serves"] or life.fact("replicas") not in {None, "1"})
    for spec in distinct(specs[life.worker] for life in meeting if life.worker in specs):
        seen |= tasks_of(spec) & training
    return seen


def comparable_places(training: Collection[Life]) -> dict[str, tuple[int, int]]:
    """Return worker → (epoch, step) to compare by, of those whose position is known."""
    return comparable({life.worker: life.place for life in training if life.place})
