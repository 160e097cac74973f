"""Which kinds of sources were read, whatever files they came in."""

import polars as pl

from analyzer.model.run import Tables
from analyzer.model.source_kinds import Kind


def kinds_read(tables: Tables) -> set[str]:
    """Return the kinds of sources that were read.

    `exit_codes` is among them if the exit codes of all training workers are known that had ended.
    """
    kinds = set(tables["sources"].filter(pl.col("read") != "skipped")["kind"])
    ended = pl.col("exit_code").is_not_null() | (pl.col("ended") != "running")
    codes = tables["lifetimes"].filter("trains", ended)["exit_code"]
    return kinds | ({Kind.EXIT_CODES.value} if len(codes) > codes.null_count() == 0 else set())
