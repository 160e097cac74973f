"""Adds context to log lines matched by rules: what followed them and the TensorFlow version."""

import polars as pl

from analyzer.derive.training.ordering import printed_after_end


def matches(
    found: pl.DataFrame, lifetimes: pl.DataFrame, workers: pl.DataFrame, scalars: pl.DataFrame
) -> pl.DataFrame:
    """Return the lines with `after_end` (worker had finished), `overcome` (progress followed) and version."""
    versions = workers.select("worker", "tensorflow").drop_nulls()
    distinct = versions["tensorflow"].unique().to_list()
    of_all = distinct[0] if len(distinct) == 1 else None
    by_worker = dict(versions.iter_rows())
    stated = [by_worker.get(worker, of_all) for worker in found["worker"].to_list()]
    last = scalars.group_by("source").agg(last=pl.col("line").max())
    joined = found.join(last, on="source", how="left", maintain_order="left").with_columns(
        printed_after_end(found, lifetimes).alias("after_end"),
        (pl.col("last") > pl.col("line")).fill_null(value=False).alias("overcome"),
        pl.Series("tensorflow", stated, dtype=pl.String()),
    )
    return joined.drop("last")
