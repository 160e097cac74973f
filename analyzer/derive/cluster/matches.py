"""Adds context to log lines matched by rules: the process they name, what followed, TensorFlow's version."""

import re
from collections import Counter

import polars as pl

from analyzer.derive.training.ordering import printed_after_end
from analyzer.model.task_names import is_kernel_log
from analyzer.tables.clock_alignment import in_span_of_any_zone

_UTC_OFFSET = re.compile(r"\S+T\d\d:\d\d:\d\d[.,]\d+([+-])(\d\d):?(\d\d)\s")
"""Regex for a time of `dmesg --time-format iso`, which states the zone of the host."""
_PROCESS = re.compile(r"\bpid[= ](\d+)|\bKill(?:ed)? process (\d+)|\[(\d+)\]: segfault at ")
"""Regex for a process that a line of a kernel log is about."""
_MARGIN_SECONDS = 60.0
"""By how much the clock of a kernel log may differ from those of the workers, zones aside."""


def matches(
    found: pl.DataFrame,
    lifetimes: pl.DataFrame,
    workers: pl.DataFrame,
    scalars: pl.DataFrame,
    sources: pl.DataFrame,
    facts: pl.DataFrame,
) -> pl.DataFrame:
    """Return the lines with their worker's TensorFlow version, and with what makes them weaker evidence.

    A line of a kernel log is of the worker whose process it names, if no file name says more.
    `after_end`: the worker had finished; `overcome`: training went on; `before_start`: TensorFlow started
    only after it; `of_another_time`: a kernel log dates the line at another time than the end of the run.
    """
    found = found.with_columns(_of_named_process(found, facts))
    versions = workers.select("worker", "tensorflow").drop_nulls()
    distinct = versions["tensorflow"].unique().to_list()
    of_all = distinct[0] if len(distinct) == 1 else None
    by_worker = dict(versions.iter_rows())
    stated = [by_worker.get(worker, of_all) for worker in found["worker"].to_list()]
    spans = scalars.group_by("source").agg(last=pl.col("line").max(), first=pl.col("line").min())
    joined = found.join(spans, on="source", how="left", maintain_order="left").with_columns(
        printed_after_end(found, lifetimes).alias("after_end"),
        (pl.col("last") > pl.col("line")).fill_null(value=False).alias("overcome"),
        _before_start(found, facts),
        _of_another_time(found, sources),
        pl.Series("tensorflow", stated, dtype=pl.String()),
    )
    begun = (pl.col("first") < pl.col("line")).fill_null(value=False)
    return joined.with_columns(pl.col("before_start") & ~begun).drop("first", "last")


def _before_start(found: pl.DataFrame, facts: pl.DataFrame) -> pl.Series:
    """Return for each line whether its log states nothing before it, and the start of TensorFlow below it."""
    told = facts.drop_nulls("line").group_by("source").agg(
        first=pl.col("line").min(), banner=pl.col("line").filter(pl.col("key") == "process_banner").min()
    )  # fmt: skip
    placed = found.select("source", "line").join(told, on="source", how="left", maintain_order="left")
    above = (pl.col("line") < pl.col("first")) & pl.col("banner").is_not_null()
    return placed.select(before_start=above.fill_null(value=False)).to_series()


def _of_named_process(found: pl.DataFrame, facts: pl.DataFrame) -> pl.Series:
    """Return each line's worker; in a kernel log without a worker, that of the process which the line names.

    A process ID that several workers state is ignored: in containers, it is not the kernel's.
    """
    stated = facts.filter((pl.col("key") == "process_id") & pl.col("worker").is_not_null())
    pairs = dict.fromkeys(stated.select("value", "worker").iter_rows())
    several = Counter(process for process, _ in pairs)
    owner = {process: worker for process, worker in pairs if several[process] == 1}

    def whose(worker: str | None, source: str, line: str) -> str | None:
        named = _PROCESS.search(line) if owner and worker is None and is_kernel_log(source) else None
        return owner.get(named[named.lastindex or 0]) if named else worker

    rows = found.select("worker", "source", "excerpt").iter_rows()
    return pl.Series("worker", [whose(*row) for row in rows], dtype=pl.String())


def _of_another_time(found: pl.DataFrame, sources: pl.DataFrame) -> pl.Series:
    """Return for each line whether a kernel log has it from another time than that of the run's end.

    A kernel log covers weeks, with kills in other jobs. The run's end lasts from the first to the last of its
    workers' last lines: a worker that is killed stops first, its peers later.
    """
    kernel_logs = {name for name in sources["source"] if is_kernel_log(name)}
    own = sources.filter(pl.col("worker").is_not_null() & ~pl.col("source").is_in(kernel_logs))
    ends = own.group_by("worker").agg(pl.col("last_time").max())["last_time"].drop_nulls().to_list()
    apart = [False] * found.height
    if kernel_logs and ends:
        span = min(ends) - _MARGIN_SECONDS, max(ends) + _MARGIN_SECONDS
        rows = found.select("source", "time", "excerpt").iter_rows()
        apart = [name in kernel_logs and not _is_within(time, line, *span) for name, time, line in rows]
    return pl.Series("of_another_time", apart, dtype=pl.Boolean())


def _is_within(time: float | None, line: str, first: float, last: float) -> bool:
    """Return True if a line may have been written between `first` and `last` (s since 1970, UTC).

    Its own time may be in UTC or in the host's time zone; a line without one may be of any time.
    """
    if time is None:
        return True
    offset = _UTC_OFFSET.match(line)
    if offset is None:
        return in_span_of_any_zone(time, first, last)
    minutes = int(f"{offset[1]}{offset[2]}") * 60 + int(f"{offset[1]}{offset[3]}")
    return any(first <= each <= last for each in (time, time + 60 * minutes))
