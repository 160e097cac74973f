"""Adds context to log lines matched by rules: the process they name, what followed, TensorFlow's version."""

from collections.abc import Mapping

import polars as pl

from analyzer.derive.cluster.kernel_lines import kernel_lines
from analyzer.derive.training.ordering import Excerpts, printed_after_end
from analyzer.tables.kernel_times import RunTimes


def matches(
    tables: Mapping[str, pl.DataFrame],
    lifetimes: pl.DataFrame,
    workers: pl.DataFrame,
    scalars: pl.DataFrame,
    run_times: RunTimes,
    exceptions: pl.DataFrame,
) -> pl.DataFrame:
    """Return the lines with their worker's TensorFlow version, and with what makes them weaker evidence.

    A line of a kernel log is of the worker whose process it names, or who ran alone on its host.
    `after_end`: the worker had finished; `overcome`: training went on; `before_start`: TensorFlow started
    only after it; `of_another_time`: a kernel log dates the line at another time than the end of the run;
    `foreign`: a kernel log shows that it concerns no worker at all.
    """
    facts = tables["facts"]
    lines = kernel_lines(tables, workers, lifetimes, run_times)
    found = tables["matches"].with_columns(
        pl.Series("worker", [line.worker for line in lines], dtype=pl.String()),
        pl.Series("kernel_log", [line.kernel_log for line in lines], dtype=pl.Boolean()),
        pl.Series("foreign", [line.foreign for line in lines], dtype=pl.String()),
    )
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
        run_times.apart_from_end(found, "excerpt").alias("of_another_time"),
        pl.Series("tensorflow", stated, dtype=pl.String()),
    )
    flushed = exceptions.drop_nulls("unordered_from").select("source", "unordered_from").unique("source")
    is_unordered = pl.col("line") > pl.col("unordered_from")
    joined = joined.join(flushed, on="source", how="left", maintain_order="left").with_columns(
        overcome=pl.col("overcome")
        & ~_ends_excerpt(joined, facts, scalars)
        & ~is_unordered.fill_null(value=False)
    )
    begun = (pl.col("first") < pl.col("line")).fill_null(value=False)
    return joined.with_columns(pl.col("before_start") & ~begun).drop("first", "last", "unordered_from")


def _ends_excerpt(found: pl.DataFrame, facts: pl.DataFrame, scalars: pl.DataFrame) -> pl.Series:
    """Return for each line whether an exception holds it with which a part of a post ends."""
    excerpts = Excerpts(facts, scalars)
    rows = found.select("kind", "source", "line").iter_rows()
    return pl.Series(
        [kind == "traceback" and excerpts.is_last_of_its_own(source, line) for kind, source, line in rows],
        dtype=pl.Boolean(),
    )


def _before_start(found: pl.DataFrame, facts: pl.DataFrame) -> pl.Series:
    """Return for each line whether its log states nothing before it, and the start of TensorFlow below it."""
    told = facts.drop_nulls("line").group_by("source").agg(
        first=pl.col("line").min(), banner=pl.col("line").filter(pl.col("key") == "process_banner").min()
    )  # fmt: skip
    placed = found.select("source", "line").join(told, on="source", how="left", maintain_order="left")
    above = (pl.col("line") <= pl.col("first")) & (pl.col("banner") > pl.col("line"))
    return placed.select(before_start=above.fill_null(value=False)).to_series()
