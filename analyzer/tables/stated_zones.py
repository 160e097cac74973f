"""Tells whether logs state the time zone of their times."""

import polars as pl

_ZONED = r"^\W?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)(?:\W|$)"
_OF_AN_ENTRY = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z "
"""Regex for the time of an entry of a log service, put before its text as UTC even if it states no zone."""
_NEAR_SECONDS = 450.0
"""Half of the least difference of two time zones."""


def all_state_zones(sources: pl.DataFrame, records: pl.DataFrame) -> bool:
    """Return True if each dated log of a worker states zones, and its times without one agree with them.

    A collector's timestamps state one, and those of the program in the same log may lack it.
    """
    dated = sources.filter(pl.col("last_time").is_not_null() & pl.col("worker").is_not_null(), kind="log")
    timed = records.filter(pl.col("time").is_not_null() & pl.col("source").is_in(dated["source"].implode()))
    zoned = pl.col("text").str.contains(_ZONED) & ~pl.col("text").str.contains(_OF_AN_ENTRY)
    lines = timed.sort("source", "line").select("source", "time", zoned=zoned)
    bare = pl.when(~pl.col("zoned")).then("time")
    near = lines.with_columns(
        before=bare.forward_fill().over("source"), has_bare=(~pl.col("zoned")).any().over("source")
    ).filter("zoned")
    told = near.filter(pl.col("before").is_not_null() | ~pl.col("has_bare"))
    last = told.group_by("source", maintain_order=True).last()
    apart = (last["time"] - last["before"]).abs().fill_null(0.0)
    return 0 < dated.height == last.height and bool((apart < _NEAR_SECONDS).all())
