"""Finds each worker's last training position, the plan that it printed, and its report of completion.

The plan is its numbers of epochs and steps; the wording of completion lines is in `rules/messages/`.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import polars as pl

from analyzer.derive.training.leave_one_out import range_of_others
from analyzer.derive.training.ordering import LastProgress, Row, comes_after
from analyzer.model.lazy_regex import lazy_regex
from analyzer.model.messages import Messages
from analyzer.model.schema import VALIDATION
from analyzer.tables.clock_alignment import CommonClock

_LONGEST = 300
"""Maximum length in characters of a completion line."""
_SHARE_LEFT = 10
"""A tenth of the planned steps may be left: not every step is logged."""
_MEASURED_APART = r"^(?:valid|val|validation|eval|evaluation|test|dev)[_/]"
"""Regex for metrics that are no training's, with `_` or `/` behind the name of the data."""
_SENTENCE_END = lazy_regex(r"[.!;]+ +")
_NAMES_EPOCH = re.compile(r"(?i)epoch")


class Place(NamedTuple):
    """A training position; under `fit`, steps count within the epoch."""

    epoch: int | None
    epochs: int | None
    step: int | None
    steps: int | None
    source: str
    line: int | None
    time: float | None
    origin: str

    @property
    def unit(self) -> tuple[str, bool, bool]:
        """Return (origin, has no epoch, has no step); only positions of equal unit are comparable."""
        return (self.origin, self.epoch is None, self.step is None)

    @property
    def done(self) -> int | None:
        """Return the steps since the start of training; None if unknown or read from an event file."""
        if self.origin == "fit" and self.epoch is not None and self.steps is not None:
            return (self.epoch - 1) * self.steps + (self.step or 0)
        return self.step if self.epoch is None and self.origin in {"loop", "estimator"} else None

    @property
    def is_within_epoch(self) -> bool:
        """Return True if this is a step of `fit` before the last of its epoch."""
        return self.origin == "fit" and (self.step or 0) < (self.steps or 0)

    @property
    def states_plan(self) -> bool:
        """Return True if the log states how many epochs were planned or, without epochs, how many steps."""
        return self.epochs is not None or (self.epoch is None and self.steps is not None)

    def with_plan(self, steps: int | None, epochs: int | None) -> "Place":
        """Return it with a plan that another line states, unless its own lines state one or it is beyond it.

        A position beyond the plan counts in another unit.
        """
        if self.states_plan or self.origin == "fit":
            return self
        if steps is not None and self.epoch is None and self.step is not None and self.step <= steps:
            return self._replace(steps=steps)
        if epochs is not None and self.step is None and self.epoch is not None and self.epoch <= epochs:
            return self._replace(epochs=epochs)
        return self

    @property
    def is_planned_end(self) -> bool:
        """Return True if the log states how many steps or epochs were planned, and this is the last."""
        if self.step is None:
            return self.epochs is not None and self.epoch == self.epochs
        if self.steps is None or self.step != self.steps:
            return False
        return self.epochs is None or self.epoch == self.epochs

    @property
    def is_far_from_plan(self) -> bool:
        """Return True if much of the stated plan is left: an epoch, or without epochs a tenth of the steps.

        Only `fit` surely counts epochs from 1, so that the last of other programs may be one below the plan.
        """
        if self.epochs is not None:
            return self.epochs - (self.epoch or 0) > (self.origin != "fit")
        if self.steps is None or self.step is None or self.epoch is not None:
            return False
        return (self.steps - self.step) * _SHARE_LEFT > self.steps


class StartUp(NamedTuple):
    """Loggers and words by which a record is known to belong to the start-up of a process."""

    origins: frozenset[str]
    words: tuple[str, ...]

    def covers(self, row: Mapping[str, Any]) -> bool:
        """Return True if a record belongs to the start-up."""
        return row["origin"] in self.origins or self.waits(row)

    def waits(self, row: Mapping[str, Any]) -> bool:
        """Return True if a record says that the process waits for the others, or was given up there."""
        return any(word in row["text"] for word in self.words)


def comparable(places: Mapping[str, Place]) -> dict[str, tuple[int, int]]:
    """Return worker → (epoch, step) to compare by; empty if the workers count different things.

    Event files are not compared with logs: they are written later, and not at every step.
    """
    if len({place.unit for place in places.values()}) <= 1:
        return {worker: (place.epoch or 0, place.step or 0) for worker, place in places.items()}
    done = {worker: (0, place.done) for worker, place in places.items() if place.done is not None}
    return done if len(done) == len(places) else {}


def last_places(scalars: pl.DataFrame) -> dict[tuple[str, int], Place]:
    """Return (worker, attempt) → last position, from its log or else from its event files.

    A line that only repeats the step of an earlier one (`reached step 160`) has that one's place in the plan.
    """
    if scalars.is_empty():
        return {}
    from_log = pl.col("origin") != "event_file"
    beside = pl.col("tag").str.contains(f"^(?:epoch_|checkpoint_step$)|{VALIDATION}")
    shown = scalars.select("worker", "attempt", "tag", *Place._fields, from_log=from_log)
    steps = shown.filter(pl.col("worker").is_not_null() & ~beside)
    last = steps.unique(["worker", "attempt", "from_log"], keep="last", maintain_order=True)
    at = ["worker", "attempt", "source", "epoch", "step"]
    plans = steps.drop_nulls(["step", "steps"]).join(last, on=at, how="semi", nulls_equal=True)
    plans = plans.group_by(at).agg(plan=pl.col("steps").max())
    last = last.join(plans, on=at, how="left", nulls_equal=True, maintain_order="left")
    last = last.with_columns(steps=pl.coalesce("plan", "steps"))
    places = sorted(last.iter_rows(named=True), key=itemgetter("from_log"))
    return {(row["worker"], row["attempt"]): Place(*map(row.__getitem__, Place._fields)) for row in places}


def with_short_plans(lifetimes: pl.DataFrame, scalars: pl.DataFrame, facts: pl.DataFrame) -> pl.DataFrame:
    """Return lifetimes with `short_epoch` and `short_plan`: fewer steps per epoch or in all than the others.

    The steps of an epoch are those in bars and `step 3/20`, or those stated by the workers: whichever more
    workers have. A plan is a number of epochs, or one of steps without epochs.
    """
    trainers = lifetimes.filter("trains").select("worker", attempt=pl.max_horizontal("attempts", 1))
    stated = facts.filter(key="steps_per_epoch").select("worker", steps=pl.col("value").cast(pl.Int64))
    counted = scalars.filter(pl.col("origin").is_in(["fit", "loop"])).drop_nulls(["epoch", "steps"])
    kinds = (_first_steps(rows.join(trainers, on="worker", how="semi")) for rows in (counted, stated))
    places = last_places(scalars)
    last = {worker: places.get((worker, attempt)) for worker, attempt in trainers.iter_rows()}
    return lifetimes.with_columns(
        short_epoch=pl.col("worker").is_in(_below_others(max(kinds, key=len))),
        short_plan=pl.col("worker").is_in(_with_shorter_plan(last)),
    )


def _with_shorter_plan(places: Mapping[str, Place | None]) -> list[str]:
    """Return the worker that planned less than all others, none of which is behind it.

    Others that are behind may be in the next of several calls of `fit`, each with a plan of its own.
    """
    known = {worker: place for worker, place in places.items() if place and place.states_plan}
    if len(known) < len(places) or len({place.epochs is None for place in known.values()}) != 1:
        return []
    plans = {worker: place.epochs or place.steps or 0 for worker, place in known.items()}
    least = min((place.epoch or place.step or 0 for place in known.values()), default=0)
    return [each for each in _below_others(plans) if (known[each].epoch or known[each].step or 0) <= least]


def _below_others(counts: Mapping[str, int]) -> list[str]:
    return [worker for worker, (least, _) in range_of_others(counts).items() if counts[worker] < least]


def _first_steps(rows: pl.DataFrame) -> dict[str, int]:
    """Return worker → `steps` of its first row."""
    first = rows.unique("worker", keep="first", maintain_order=True)
    return dict(first.select("worker", "steps").iter_rows())


def stepped(scalars: pl.DataFrame) -> set[tuple[str, int]]:
    """Return the (worker, attempt) pairs with at least one training step, or the metrics of two epochs.

    The metrics of a single epoch may be those of a restored checkpoint, unless the line tells how long that
    epoch took.
    """
    if scalars.is_empty():
        return set()
    own = scalars.select("worker", "attempt", "tag", "epoch", "step").filter(pl.col("worker").is_not_null())
    steps = own.filter(pl.col("step") > 0).select("worker", "attempt").unique()
    measured = own.filter(
        ~pl.col("tag").is_in(["epoch", "step", "checkpoint_step"]) & pl.col("epoch").is_not_null()
    )
    duration, of_training = (
        pl.col("tag").str.ends_with("_seconds"),
        ~pl.col("tag").str.contains(_MEASURED_APART),
    )
    epochs = (
        measured.group_by("worker", "attempt")
        .agg(
            pl.col("epoch").n_unique(),
            timed=(duration & of_training).any() & (~duration & of_training).any(),
        )
        .filter((pl.col("epoch") > 1) | pl.col("timed"))
    )
    return {*steps.iter_rows(), *epochs.select("worker", "attempt").iter_rows()}


def last_times(scalars: pl.DataFrame) -> dict[tuple[str, int], float | None]:
    """Return (worker, attempt) → time of its last progress in logs or event files."""
    timed = scalars.select("worker", "attempt", "time").filter(pl.col("worker").is_not_null())
    last = timed.group_by("worker", "attempt", maintain_order=True).agg(pl.col("time").max())
    return {(worker, attempt): time for worker, attempt, time in last.iter_rows()}


def completion_lines(
    records: pl.DataFrame, progress: LastProgress, messages: Messages
) -> dict[tuple[str, int], dict[str, Any]]:
    """Return (worker, attempt) → the completion line that follows its last step.

    Without a known step, only a line about the training itself counts: others tell of its preparation.
    A line that also names the last step, as `step 500 | finished`, counts if it is the only one of its kind.
    """
    done, not_done = messages.wording("done"), messages.wording("not_done")
    trained = messages.wording("training_done")
    words = [word for each in (*done.messages, *trained.messages) for word in each.literals]
    plain = records.filter(
        pl.col("kind").is_in(["plain", "python", "progress"])
        & (pl.col("level").is_null() | (pl.col("level") == "I"))
        & (pl.col("text").str.len_chars() < _LONGEST)
        & pl.col("text").str.contains(f"(?i){'|'.join(map(re.escape, words))}")
    )
    found: dict[tuple[str, int], dict[str, Any]] = {}
    with_step: Counter[tuple[str, int]] = Counter()
    for row in plain.iter_rows(named=True):
        whole, sentences = row["text"], _SENTENCE_END.split(row["text"])
        of_training = any(trained.is_in(each) and not not_done.is_in(each) for each in sentences)
        if of_training or (done.is_in(whole) and not not_done.is_in(whole)):
            life = row["worker"], row["attempt"]
            with_step[life] += row["kind"] == "progress"
            if row["kind"] == "progress" and _NAMES_EPOCH.search(whole):
                continue
            steps = progress.get(life, ())
            if of_training:
                steps = [{**step, "line": step["reached"] or step["line"]} for step in steps]
            order = set(_orders(row, steps))
            if order == {True} or (not order and trained.is_in(row["text"])):
                told = of_training or found.get(life, {}).get("trained", False)
                found[life] = row | {"of_training": trained.is_in(whole), "trained": told}
    return {life: row for life, row in found.items() if row["kind"] != "progress" or with_step[life] == 1}


def _orders(row: Row, steps: Sequence[Row]) -> Iterator[bool | None]:
    """Yield for the last step in each log of a worker whether a completion line comes after it.

    A log without times that came as far as the line's own log repeats it, as standard output repeats what is
    logged; in another log, nothing tells.
    """
    own = next((step for step in steps if step["source"] == row["source"]), None)
    for step in steps:
        order = _is_last(row, step)
        repeats = own and own["step"] is not None and all(own[key] == step[key] for key in ("epoch", "step"))
        yield _is_last(row, own) if order is None and own and repeats else order


def _is_last(row: Row, step: Row) -> bool | None:
    """Return True if a completion line comes after the line of the last step, or is that line itself."""
    names_step = row["kind"] == "progress" and (row["source"], row["line"]) == (step["source"], step["line"])
    return names_step or comes_after(row, step)


def last_attempts(tables: Mapping[str, pl.DataFrame]) -> dict[str, int]:
    """Return worker → the highest attempt number in its logs and event files."""
    logged = pl.concat([tables[table].select("worker", "attempt") for table in ("records", "scalars")])
    return dict(logged.drop_nulls("worker").group_by("worker").agg(pl.col("attempt").max()).iter_rows())


def times_seen(sources: pl.DataFrame, clock: CommonClock) -> dict[str, tuple[float | None, float | None]]:
    """Return worker → first and last time in its logs and event files, or without any, in its recording."""
    known: dict[tuple[bool, str], list[float]] = defaultdict(list)
    timed = sources.filter(pl.col("kind").is_in(["log", "event_file", "recording"]))
    rows = timed.select("worker", "source", "kind", "first_time", "last_time").iter_rows()
    for worker, source, kind, *ends in rows:
        times = (clock.time(worker, source, end) for end in ends)
        known[kind != "recording", worker].extend(time for time in times if time is not None)
    ordered = sorted(known.items(), key=lambda item: item[0][0])
    return {worker: (min(times), max(times)) for (_, worker), times in ordered if times}
