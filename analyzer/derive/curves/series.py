"""Merges the values of a worker's logs and event files into one series.

For a value found in both, the event file supplies full precision and time, the log the line number.
"""

from typing import Any

import polars as pl

from analyzer.model.schema import GAUGE, POSITIONS, TABLES
from analyzer.tables.builders import frame

_OWN = ("worker", "attempt")
_ROUNDED, _SMALL = 1e-3, 0.1
"""Relative tolerance for printed (rounded) values; below 0.1 the tolerance is absolute, 0.0001."""
_EPOCHS = r"^(?:(validation)/)?epoch_"
"""Regex of the tag prefix of Keras epoch metrics; event files count epochs from 0, logs from 1."""


def series(scalars: pl.DataFrame) -> pl.DataFrame:
    """Return one row per value and worker, in reading order."""
    if scalars.is_empty():
        return frame("series", ())
    written = pl.col("origin") == "event_file"
    wanted = pl.col("worker").is_not_null() & ~pl.col("tag").is_in(POSITIONS) & (pl.col("origin") != GAUGE)
    place = [*_OWN, "tag", "origin", "epoch", "step"]
    values = scalars.filter(wanted).with_row_index("row").unique(place, keep="last").sort("row")
    logs = values.filter(~written).with_row_index("log")
    events = values.filter(written).with_row_index("event")
    if not logs.height or not events.height:
        return _as_table([values.with_columns(printed=pl.when(~written).then("value"), agree=None)])
    pairs = pl.concat([_by_step(logs, events), _by_epoch(logs, events)])
    exact = events.select("event", exact="value", at="time", written_as="tag")
    both = logs.join(pairs.join(exact, on="event"), on="log").with_columns(
        origin=pl.lit("both"),
        agree=_agree(pl.col("value"), pl.col("exact")),
        printed="value",
        value="exact",
        time=pl.coalesce("at", "time"),
    )
    only_logged = logs.join(pairs, on="log", how="anti").with_columns(printed="value")
    return _as_table([both, only_logged, events.join(pairs, on="event", how="anti")])


def agreement(series: pl.DataFrame) -> dict[tuple[str, str, bool], dict[str, Any]]:
    """Return (worker, tag, is event file) → how many values log and event file share and agree on."""
    found = {}
    shared = series.drop_nulls("agree").partition_by("worker", "tag", "written_as", as_dict=True)
    for (worker, tag, written), own in shared.items():
        apart = own.filter(~pl.col("agree"))
        summary: dict[str, Any] = {"both": own.height, "apart": apart.height}
        summary["apart_share"] = apart.height / own.height
        if apart.height:
            first = apart.row(0, named=True)
            summary |= {f"apart_{name}": first[name] for name in ("step", "value", "printed")}
        found[str(worker), str(tag), False] = found[str(worker), str(written), True] = summary
    return found


def _by_step(logs: pl.DataFrame, events: pl.DataFrame) -> pl.DataFrame:
    """Return (log, event) row pairs of equal tag and step; excludes `fit` lines, which count per epoch."""
    counted = logs.filter((pl.col("origin") != "fit") & pl.col("step").is_not_null())
    return counted.join(events, on=[*_OWN, "tag", "step"]).select("log", "event")


def _by_epoch(logs: pl.DataFrame, events: pl.DataFrame) -> pl.DataFrame:
    """Return (log, event) row pairs of the end-of-epoch values that `fit` prints and its callback writes."""
    ends = logs.filter((pl.col("origin") == "fit") & pl.col("step").eq_missing(pl.col("steps")))
    of_epochs = events.filter(pl.col("tag").str.contains(_EPOCHS)).with_columns(
        tag=pl.col("tag").str.replace("^validation/", "val_").str.replace("epoch_", "", literal=True),
        epoch=pl.col("step") + 1,
    )
    return ends.join(of_epochs, on=[*_OWN, "tag", "epoch"]).select("log", "event")


def _agree(printed: pl.Expr, exact: pl.Expr) -> pl.Expr:
    """Return an expression: true where the values agree at the log's precision, null if one is not finite."""
    near = (printed - exact).abs() <= _ROUNDED * pl.max_horizontal(exact.abs(), _SMALL)
    return pl.when(printed.is_finite() & exact.is_finite()).then(near)


def _as_table(parts: list[pl.DataFrame]) -> pl.DataFrame:
    rows = pl.concat(parts, how="diagonal_relaxed")
    names = [column.name for column in TABLES["series"]]
    lacking = [pl.lit(None).alias(name) for name in names if name not in rows.columns]
    ordered = rows if len(parts) == 1 else rows.sort("row")
    return ordered.with_columns(lacking).select(names).cast(frame("series", []).schema)
