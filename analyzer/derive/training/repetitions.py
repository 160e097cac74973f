"""Finds the line that a worker repeats after its last progress, as a loop of retries does."""

import polars as pl

from analyzer.tables.builders import frame

_LEAST = 3
"""Minimum number of lines: one retry, and another one, are no loop yet."""
_SHORTEST = 10.0
"""Minimum time in seconds from the first to the last of them."""
_TRAINED = ["worker", "attempt"]


def repetitions(lifetimes: pl.DataFrame, records: pl.DataFrame, scalars: pl.DataFrame) -> pl.DataFrame:
    """Return the line that each training worker repeated after its last progress, one row per worker.

    Lines are the same if only their numbers differ. One that was printed before the last progress too, such
    as that of a monitor, is part of usual work; so is one with progress between its repetitions.
    """
    last_attempts = lifetimes.filter("trains").select("worker", attempt=pl.max_horizontal("attempts", 1))
    logged = scalars.filter(pl.col("origin") != "event_file")
    progress = logged.group_by(_TRAINED).agg(since=pl.col("time").max()).drop_nulls("since")
    printed = (
        records.filter(pl.col("kind").is_in(["python", "plain"]), pl.col("time").is_not_null())
        .join(last_attempts, on=_TRAINED, how="semi")
        .join(progress, on=_TRAINED)
        .with_columns(form=pl.col("text").str.replace_all(r"\d+", "#"))
        .with_columns(later=pl.col("time") >= pl.col("since"), end=pl.col("time").max().over(_TRAINED))
    )
    loops = (
        printed.group_by(*_TRAINED, "source", "form", maintain_order=True)
        .agg(
            pl.col("line", "time", "text").first(),
            pl.col("end").first(),
            until=pl.col("time").last(),
            last=pl.col("line").last(),
            times=pl.len(),
            new=pl.col("later").all(),
        )
        .with_columns(seconds=pl.col("until") - pl.col("time"))
        .filter(
            "new", pl.col("times") >= _LEAST, pl.col("seconds") >= _SHORTEST, pl.col("until") == pl.col("end")
        )
    )
    between = loops.join(logged.select(*_TRAINED, "source", at="line"), on=[*_TRAINED, "source"]).filter(
        pl.col("at").is_between("line", "last")
    )
    alone = loops.join(between, on=_TRAINED, how="anti").unique("worker", keep="first", maintain_order=True)
    columns = ["worker", "source", "line", "time", "text", "times", "seconds"]
    return frame("repetitions", alone.select(columns).to_dicts())
