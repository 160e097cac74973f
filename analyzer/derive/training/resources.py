"""Summarizes the readings of each machine: range, mean, and whether they only grew or only fell."""

import polars as pl

from analyzer.model.schema import GAUGE
from analyzer.tables.builders import frame

_KEY = ["worker", "tag"]
_PARTS = 8
"""Equal parts of the time; the first and the last are left out, as start-up and shutdown."""
_COMPARED = _PARTS - 2
_MEASURED = (_COMPARED - 1) / _PARTS
_LIMITS = {
    "rss_bytes": "memory_limit_bytes",
    "memory_used_bytes": "memory_limit_bytes",
    "open_files_count": "open_files_limit_count",
}
"""Tag → tag of its limit."""


def resources(scalars: pl.DataFrame) -> pl.DataFrame:
    """Return one row per worker and measured quantity, from the dated readings of its last attempt."""
    dated = (pl.col("origin") == GAUGE) & pl.col("worker").is_not_null() & pl.col("time").is_not_null()
    readings = scalars.filter(dated)
    if readings.is_empty():
        return frame("resources", ())
    last = pl.col("attempt").fill_null(1) == pl.col("attempt").fill_null(1).max().over("worker")
    readings = readings.filter(last).sort("time", maintain_order=True)
    found = _ranges(readings).join(_changes(readings), on=_KEY, how="left", maintain_order="left")
    return frame("resources", _with_texts(_with_limits(found)).iter_rows(named=True))


def _ranges(readings: pl.DataFrame) -> pl.DataFrame:
    value = pl.col("value")
    own = readings.group_by(_KEY, maintain_order=True).agg(
        pl.col("source", "line").last(),
        readings=pl.len().cast(pl.Int64),
        seconds=pl.col("time").last() - pl.col("time").first(),
        first_value=value.first(),
        last_value=value.last(),
        lowest=value.min(),
        highest=value.max(),
        mean=value.mean().round(1),
    )
    others = pl.col("mean").top_k(2).over("tag", mapping_strategy="join")
    highest = pl.when(pl.col("mean") == others.list.get(0)).then(others.list.get(1, null_on_oob=True))
    low = pl.col("mean").bottom_k(2).over("tag", mapping_strategy="join")
    lowest = pl.when(pl.col("mean") == low.list.get(0)).then(low.list.get(1, null_on_oob=True))
    return own.with_columns(
        over_others=pl.col("mean") - highest.otherwise(others.list.get(0)),
        part_of_others=pl.col("mean") / lowest.otherwise(low.list.get(0)),
        readings_of_all=pl.col("readings").sum().over("tag"),
        mean_of_all=pl.col("mean").mean().over("tag").round(1),
    )


def _changes(readings: pl.DataFrame) -> pl.DataFrame:
    """Return how the lowest and the highest value change from each eighth of the time to the next."""
    time = pl.col("time")
    share = (time - time.first().over(_KEY)) / (time.last() - time.first()).over(_KEY)
    parted = readings.with_columns(part=(share * _PARTS).floor().clip(0, _PARTS - 1))
    bounds = parted.group_by([*_KEY, "part"], maintain_order=True).agg(
        low=pl.col("value").min(), high=pl.col("value").max()
    )
    parts = bounds.sort("part", maintain_order=True)
    low, high = pl.col("low").slice(1, _COMPARED), pl.col("high").slice(1, _COMPARED)
    changes = parts.group_by(_KEY, maintain_order=True).agg(
        parts=pl.len(),
        rises=(low.diff() > 0).sum().cast(pl.Int64),
        falls=(high.diff() < 0).sum().cast(pl.Int64),
        rise=low.last() - low.first(),
        fall=high.last() - high.first(),
        factor=low.last() / low.first(),
        first_low=low.first(),
        first_high=high.first(),
    )
    falling = pl.col("falls") > pl.col("rises")
    growth = pl.when(falling).then(pl.col("fall")).otherwise(pl.col("rise"))
    begin = pl.when(falling).then(pl.col("first_high")).otherwise(pl.col("first_low"))
    whole = changes.filter(pl.col("parts") == _PARTS).with_columns(growth=growth, begin=begin)
    return whole.drop("parts", "rise", "fall", "first_low", "first_high")


def _with_limits(found: pl.DataFrame) -> pl.DataFrame:
    limits = found.select("worker", pl.col("tag").alias("limit_tag"), limit="last_value")
    named = found.with_columns(limit_tag=pl.col("tag").replace_strict(_LIMITS, default=None))
    joined = named.join(limits, on=["worker", "limit_tag"], how="left", maintain_order="left")
    hourly = pl.col("growth") / (pl.col("seconds") * _MEASURED) * 3600
    end = pl.col("begin") + pl.col("growth")
    left = pl.when(hourly < 0).then(end).otherwise(pl.col("limit") - end)
    return joined.drop("limit_tag").with_columns(
        growth_per_hour=hourly,
        limit_percent=(100 * pl.col("highest") / pl.col("limit")).round(1),
        hours_left=pl.when(hourly != 0).then(left.clip(0) / hourly.abs()).round(1),
    )


def _with_texts(found: pl.DataFrame) -> pl.DataFrame:
    steady = pl.col("growth").is_not_null()
    seconds = pl.when(steady).then(pl.col("seconds") * _MEASURED).otherwise(pl.col("seconds"))
    end = pl.when(steady).then(pl.col("begin") + pl.col("growth")).otherwise(pl.col("last_value"))
    ends = found.with_columns(begin=pl.coalesce("begin", "first_value"), end=end)
    last = pl.when(_amount("end") == _amount("last_value")).then(pl.lit(""))
    return ends.with_columns(
        course=pl.format(
            "from {} to {} in {}{}",
            _amount("begin"),
            _amount("end"),
            seconds.map_elements(duration, pl.String),
            last.otherwise(pl.format(" (last reading: {})", _amount("last_value"))),
        ),
        pace=pl.format("{} an hour", _amount("growth_per_hour")),
    ).drop("begin", "end")


def _amount(column: str) -> pl.Expr:
    """Return a column's values as text, with the unit that ends their tag."""
    cells = pl.struct("tag", value=pl.col(column).abs())
    return cells.map_elements(lambda cell: amount(cell["tag"], cell["value"]), pl.String)


def amount(tag: str, value: float | None) -> str | None:
    """Return a reading as text: `7.9 GiB`, `31 %`, `1,024`; None if it is unknown."""
    if value is None:
        return None
    if tag.endswith("_bytes"):
        return f"{value / 2**30:.1f} GiB" if value >= 2**30 else f"{value / 2**20:.0f} MiB"
    return f"{value:.0f} %" if tag.endswith("_percent") else f"{value:,.0f}"


def duration(seconds: float) -> str:
    """Return seconds as text: `48 s`, `31 min` or `11.8 h`."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
