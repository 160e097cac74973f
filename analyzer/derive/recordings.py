"""Tells from the files of mwms-recorder which workers still ran when the files were collected."""

import polars as pl

_TOGETHER_SECONDS = 30.0
"""Recordings that end within this time of the latest one were all still written: six samples."""


def with_running_workers(facts: pl.DataFrame, sources: pl.DataFrame) -> pl.DataFrame:
    """Return the facts, and `exit_code: running` for each worker whose recording goes on.

    A recording goes on if it states no end, and none of another worker lasts longer. Only the recordings'
    own times count, so the answer is the same tomorrow; a host that lost power at the end looks alike.
    """
    ended = facts.filter(pl.col("key").is_in(["recorded_end", "exit_code"])).select("worker", "attempt")
    going_on = (
        last_events(sources)
        .filter(pl.col("last_time") >= pl.col("last_time").max() - _TOGETHER_SECONDS)
        .join(ended, on=["worker", "attempt"], how="anti", maintain_order="left")
    )
    running = going_on.select(
        "worker", "attempt", "source", time="last_time", key=pl.lit("exit_code"), value=pl.lit("running")
    )
    return pl.concat([facts, running], how="diagonal")


def with_whole_stalls(stalls: pl.DataFrame, sources: pl.DataFrame) -> pl.DataFrame:
    """Return the stalls; one that did not end lasts up to the worker's last sample."""
    until = last_events(sources).select("worker", until="last_time")
    read = sources.select("source", read_until="last_time")
    joined = stalls.join(until, on="worker", how="left", maintain_order="left")
    joined = joined.join(read, on="source", how="left", maintain_order="left")
    later = (pl.col("until") - pl.col("read_until")).clip(0).fill_null(0)
    seconds = pl.when("resumed").then("seconds").otherwise(pl.col("seconds") + later)
    return joined.with_columns(seconds=seconds.round(1)).select(stalls.columns)


def in_progress(facts: pl.DataFrame, sources: pl.DataFrame, stalls: pl.DataFrame) -> bool:
    """Return True if a recording goes on and none notes a stall: the job trains, or is about to."""
    recorded = sources.filter(pl.col("kind") == "recording")["source"].to_list()
    going_on = (pl.col("key") == "exit_code") & (pl.col("value") == "running")
    runs = facts.filter(going_on & pl.col("source").is_in(recorded)).height > 0
    return runs and stalls.filter(~pl.col("resumed")).is_empty()


def last_events(sources: pl.DataFrame) -> pl.DataFrame:
    """Return the last event of each recorded worker's last attempt: worker, attempt, source, last_time."""
    recorded = (pl.col("kind") == "recording") & pl.col("worker").is_not_null()
    dated = sources.filter(recorded & pl.col("last_time").is_not_null()).sort("attempt", "last_time")
    last = dated.unique("worker", keep="last", maintain_order=True)
    return last.select("worker", "attempt", "source", "last_time")
