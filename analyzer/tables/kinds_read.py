"""Which kinds of sources were read, whatever files they came in."""

import polars as pl

from analyzer.model.run import Tables
from analyzer.model.source_kinds import Kind


def kinds_read(tables: Tables) -> set[str]:
    """Return the kinds of sources that were read, and `exit_codes` if all workers' exit codes are known."""
    kinds = set(tables["sources"].filter(pl.col("read") != "skipped")["kind"])
    codes = tables["lifetimes"].filter("trains")["exit_code"]
    return kinds | ({Kind.EXIT_CODES.value} if len(codes) > codes.null_count() == 0 else set())
