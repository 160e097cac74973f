"""What rules look for in logs, with what is known of its worker: its end, its TensorFlow."""

from __future__ import annotations

import polars as pl

from analyzer.derive.ordering import behind_end


def matches(found: pl.DataFrame, lifetimes: pl.DataFrame, workers: pl.DataFrame) -> pl.DataFrame:
    """The same rows; `after_end` is true for what was printed behind the line that says "done"."""
    versions = workers.select("worker", "tensorflow").drop_nulls()
    alike = versions["tensorflow"].unique().to_list()
    of_all = alike[0] if len(alike) == 1 else None
    own = dict(versions.iter_rows())
    stated = [own.get(worker, of_all) for worker in found["worker"].to_list()]
    return found.with_columns(
        behind_end(found, lifetimes).alias("after_end"), pl.Series("tensorflow", stated, dtype=pl.String())
    )
