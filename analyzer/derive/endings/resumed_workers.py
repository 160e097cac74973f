"""Finds workers that resumed after all others had ended: their host or process had been paused."""

from collections.abc import Iterator, Mapping

import polars as pl

from analyzer.derive.training.leave_one_out import range_of_others
from analyzer.derive.training.ordering import LastProgress, comes_after
from analyzer.tables.clock_alignment import CommonClock


def with_resumed_workers(
    lifetimes: pl.DataFrame, records: pl.DataFrame, steps: LastProgress, clock: CommonClock
) -> pl.DataFrame:
    """Return lifetimes with `woke_after`: seconds from the others' end to this worker's next record."""
    ends = dict(lifetimes.filter("trains").select("worker", "last_seen").iter_rows())
    woke = dict(_resumed_workers(lifetimes, ends, records, steps, clock))
    column = pl.Series("woke_after", [woke.get(each) for each in lifetimes["worker"]], pl.Float64)
    return lifetimes.with_columns(column)


def _resumed_workers(
    lifetimes: pl.DataFrame,
    ends: Mapping[str, float],
    records: pl.DataFrame,
    steps: LastProgress,
    clock: CommonClock,
) -> Iterator[tuple[str, float]]:
    """Yield (worker, seconds after the others' end) for each worker that logged again after that end."""
    if None in ends.values():
        return
    others = range_of_others(ends)
    unbroken = pl.col("trains") & ~pl.col("own_exception").fill_null(value=False)
    for life in lifetimes.filter(unbroken).to_dicts():
        worker = life["worker"]
        last = steps.get((worker, max(1, life["attempts"] or 1)), ())
        if not last or worker not in others or ends[worker] <= others[worker][1]:
            continue
        own = records.filter((pl.col("worker") == worker) & (pl.col("kind") != "progress"))
        behind = (row for row in own.iter_rows(named=True) if all(comes_after(row, step) for step in last))
        times = [clock.time(worker, row["source"], row["time"]) for row in behind if row["time"] is not None]
        spoke = min((time for time in times if time is not None), default=None)
        if spoke is not None and spoke > others[worker][1]:
            yield worker, spoke - others[worker][1]
