"""Which kinds of sources were read, whatever files they came in."""

import polars as pl

from analyzer.model.run import Tables
from analyzer.model.source_kinds import Kind


def kinds_read(tables: Tables) -> set[str]:
    """Return the kinds of sources that were read.

    `exit_codes` is among them if the exit codes of all training workers are known that had ended.
    """
    kinds = set(tables["sources"].filter(pl.col("read") != "skipped")["kind"])
    lives = tables["lifetimes"].filter("trains")
    runs = (pl.col("ended") == "running") | (pl.col("listed") & (pl.col("ended") == "unknown"))
    lacking = lives.filter(pl.col("exit_code").is_null() & ~runs.fill_null(value=False))
    return kinds | ({Kind.EXIT_CODES.value} if lacking.height == 0 < lives.height else set())
