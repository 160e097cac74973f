"""Tells whether a process went on after an exception: with training, a new start, or another exception."""

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Any

import polars as pl

from analyzer.derive.endings.flushed_output import flushed_below, swapped_below, was_flushed
from analyzer.derive.training.ordering import Excerpts, comes_after, last_progress
from analyzer.model.messages import Messages, Wording
from analyzer.tables.grouping import grouped

Row = Mapping[str, Any]


class Aftermath:
    """What the logs show below exceptions, without the lines that were printed before them."""

    def __init__(
        self,
        raised: Sequence[Row],
        records: pl.DataFrame,
        scalars: pl.DataFrame,
        facts: pl.DataFrame,
        messages: Messages,
    ) -> None:
        """Read progress, starts of processes and exceptions; `raised` are all exceptions, in file order."""
        starting = [each.detail for each in messages.stating("fact") if each.starts_process]
        self._others = _starts_and_last_exceptions(raised, facts, starting)
        self._progress, self._excerpts = last_progress(scalars), Excerpts(facts, scalars)
        self._mixed = logs_without_labels(facts)
        self._bars = _last_bars(scalars)
        self._flushed = flushed_below(raised, scalars, facts, starting)
        in_flight = _steps_in_flight(records, scalars, messages.wording("stops_threads"))
        self._discounted = swapped_below(raised, scalars, facts, records) | in_flight

    def shows_more_of(self, row: Row) -> bool:
        """Return True if the process that raised an exception certainly printed something after it."""
        return any(
            comes_after(each, row) for each in self._behind(row) if not was_flushed(each, self._flushed)
        )

    def flushed_from(self, source: str) -> int | None:
        """Return the line from which on a log holds stdout that was flushed late; None if it is in order."""
        return self._flushed.get(source)

    def _behind(self, row: Row) -> Iterator[Row]:
        """Yield what may be behind an exception, without the lines of which it is known that they are not."""
        key, source = (row["worker"], row["attempt"]), row["source"]
        before, last_bar = self._bars.get(source, (inf, 0))
        follows = [*self._others.get(key, ())]
        if not self._excerpts.is_last_of_its_own(source, row["line"]):
            follows += self._progress.get(key, ())
        for each in follows:
            place = each["source"], each["line"]
            is_of_another = not row["worker"] and (each["source"] != source or source in self._mixed)
            is_late_bar = row["line"] >= before and place == (source, last_bar)
            if not is_of_another and not is_late_bar and place not in self._discounted:
                yield each


def _starts_and_last_exceptions(
    raised: Sequence[Row], facts: pl.DataFrame, starting: Sequence[str]
) -> dict[tuple[str | None, int], list[Row]]:
    """Return (worker, attempt) → the facts that it stated as it started, and each log's last exception."""
    starts = facts.filter(pl.col("key").is_in(starting)).iter_rows(named=True)
    last = {(row["worker"], row["attempt"], row["source"]): row for row in raised}.values()
    return grouped(((row["worker"], row["attempt"]), row) for row in (*starts, *last))


def _steps_in_flight(
    records: pl.DataFrame, scalars: pl.DataFrame, stops_threads: Wording
) -> set[tuple[str, int]]:
    """Return (source, line) of the last progress of logs in which only one step ends below a request to stop.

    The main thread ends the step that it is in before it asks whether to stop.
    """
    words = [word for each in stops_threads.messages for word in each.literals]
    reported = records.filter(kind="traceback")
    found = reported.filter(pl.col("text").str.contains_any(pl.lit(words, pl.List(pl.String))))
    asked = {
        row["source"]: row["line"] for row in found.iter_rows(named=True) if stops_threads.is_in(row["text"])
    }
    progress = scalars.filter(pl.col("source").is_in([*asked])).drop_nulls("line")
    below = {
        source: progress.filter((pl.col("source") == source) & (pl.col("line") > line))
        for source, line in asked.items()
    }
    alone = {source: steps for source, steps in below.items() if steps.n_unique(["epoch", "step"]) == 1}
    return {(source, max(steps["line"])) for source, steps in alone.items()}


def logs_without_labels(facts: pl.DataFrame) -> set[str]:
    """Return the names of logs whose lines are of several workers and do not say of which."""
    return {*facts.filter(key="several_workers")["source"]}


def _last_bars(scalars: pl.DataFrame) -> dict[str, tuple[int, int]]:
    """Return source → (line of the progress before, line) where the last progress is bars of Keras alone.

    Standard output that is flushed as a process ends stands below the traceback of the step that failed.
    """
    is_bar = (pl.col("origin") == "fit") & (pl.col("tag") != "epoch")
    lines = scalars.drop_nulls("line").group_by("source", "line").agg(bars=is_bar.all()).sort("line")
    before = pl.col("line").shift(1, fill_value=0).last()
    last = lines.group_by("source").agg(pl.col("line", "bars").last(), before=before)
    return {source: (before, at) for source, at, bars, before in last.iter_rows() if bars}
