"""Summarizes each curve by one row of statistics."""

from collections.abc import Iterator

import polars as pl

KEY = ("worker", "tag", "origin")
"""The columns that name a curve."""
PLACE = ("line", "source", "time")
"""Where and when the value was written that shows what is wrong with a curve; evidence cites it."""
OVERFLOW = 1.8e19
"""Square root of the largest float32: from there on, the squares that Adam and clipping take overflow."""
FAR = 100
"""Factor over the first value from which on a loss has exploded; those of healthy runs reach 4.4."""
START = 3
"""Number of first values whose median is the start of the curve."""
_ENOUGH_THIRDS = 15
"""Minimum number of values of which a first half and a last third are compared."""
_LOST = 3
"""Minimum number of non-finite values at the end of a curve that is lost."""
_STILL = 1e-3
"""Relative difference up to which a value counts as equal to the last one: the rounding of four digits."""
_SAME_START = 0.1
"""Relative difference up to which the first losses of two runs agree: both come from untrained weights."""


def summaries(values: pl.DataFrame) -> pl.DataFrame:
    """Return one row per curve with statistics of its values; temporary columns begin with `_`."""
    value, scope, attempt = pl.col("value"), pl.col("scope"), pl.col("attempt")
    finite, bad = value.is_finite(), ~value.is_finite()
    numbers = value.filter(finite)
    far = finite & ((value >= OVERFLOW) | (value >= FAR * numbers.first().abs()))
    return values.group_by(KEY, maintain_order=True).agg(
        pl.col("epoch", "step").first().name.prefix("_"),
        pl.struct(PLACE).last().alias("_last_place"),
        *_first_of(bad, "_bad_place", nonfinite_epoch="epoch", nonfinite_step="step", _bad_steps="steps"),
        *_first_of(far, "_far_place", exploded_epoch="epoch", exploded_step="step", exploded_steps="steps"),
        *_last_before(bad),
        *_first_after(bad),
        *_biggest_rise(finite & (value > 0)),
        scope=pl.when(scope.n_unique() == 1).then(scope.first()).otherwise(pl.lit("unknown")),
        points=pl.len(),
        nonfinite=bad.sum(),
        decimals=numbers.cast(pl.String).str.extract(r"\.(\d+)$").str.len_chars().max(),
        still=_last_alike(numbers),
        lasting_rise=_lasting_rise(numbers),
        rises_on=_rises_on(numbers),
        recurring=numbers.slice(START).is_in(numbers.head(START).implode()).mean(),
        lost=(bad.sum() >= _LOST) & (bad.sum() == pl.len() - bad.arg_max()),
        first_value=numbers.first(),
        last_value=numbers.last(),
        max_value=numbers.max(),
        _min_value=numbers.min(),
        _finite=numbers.len(),
        _start=numbers.head(START).median(),
        _later=numbers.slice(numbers.len() // 2).median(),
        _noise=numbers.diff().abs().median(),
        _attempt=attempt.first(),
        _attempts=attempt.n_unique(),
        _lives=attempt.filter(finite).n_unique(),
    )


def _last_alike(numbers: pl.Expr) -> pl.Expr:
    """Return how many values at the end of a curve equal the last one, within `_STILL`."""
    alike = (numbers - numbers.last()).abs() <= _STILL * numbers.last().abs()
    return alike.cast(pl.Int64).reverse().cum_min().sum()


def _lasting_rise(numbers: pl.Expr) -> pl.Expr:
    """Return the ratio of the smallest value of the last third to the largest of the first half.

    The very first value does not count: the time of a first step has what is compiled.
    """
    size = numbers.len()
    earlier = numbers.slice(1, size // 2 - 1).max()
    return pl.when(size >= _ENOUGH_THIRDS, earlier > 0).then(numbers.tail(size // 3).min() / earlier)


def _rises_on(numbers: pl.Expr) -> pl.Expr:
    """Return whether all values of the last sixth are above all of the sixth before it."""
    part = numbers.len() // 6
    before = numbers.slice(numbers.len() - 2 * part, part).max()
    return pl.when(numbers.len() >= _ENOUGH_THIRDS).then(numbers.tail(part).min() > before)


def _first_of(rows: pl.Expr, place: str, **columns: str) -> Iterator[pl.Expr]:
    """Yield the place of the first selected row, and its cells as `columns` (new name → column)."""
    yield pl.struct(PLACE).filter(rows).first().alias(place)
    for name, column in columns.items():
        yield pl.col(column).filter(rows).first().alias(name)


def _last_before(bad: pl.Expr) -> Iterator[pl.Expr]:
    """Yield epoch, step and value of the last finite value before the first non-finite one."""
    earlier = ~bad & (pl.col("row") < pl.col("row").filter(bad).first())
    for column in ("epoch", "step", "value"):
        yield pl.col(column).filter(earlier).last().alias(f"finite_{column}")


def _first_after(bad: pl.Expr) -> Iterator[pl.Expr]:
    """Yield epoch and step of the first finite value after the last non-finite one, in the same attempt."""
    last = pl.col("row").filter(bad).last()
    same = pl.col("attempt").fill_null(1) == pl.col("attempt").fill_null(1).filter(bad).last()
    anew = pl.col("row").filter((pl.col("row") > last) & _begins_anew()).first()
    later = ~bad & (pl.col("row") > last) & same & (pl.col("row") < anew.fill_null(pl.col("row").max() + 1))
    yield later.any().alias("recovered")
    for column in ("epoch", "step"):
        yield pl.col(column).filter(later).first().alias(f"again_{column}")


def _begins_anew() -> pl.Expr:
    """Return an expression: true for values that begin the curve again, because the log holds another run.

    Such a value is close to the curve's first one, and at the same epoch and step or before.
    """
    value, start = pl.col("value"), pl.col("value").filter(pl.col("value").is_finite()).first()
    back = [pl.col(name).fill_null(0) <= pl.col(name).first().fill_null(0) for name in ("epoch", "step")]
    placed = pl.col("epoch").is_not_null() | pl.col("step").is_not_null()
    return placed & pl.all_horizontal(back) & ((value - start).abs() <= _SAME_START * start.abs())


def _biggest_rise(positive: pl.Expr) -> Iterator[pl.Expr]:
    """Yield the columns of the largest jump, the greatest ratio of a value to the one before it.

    They hold the ratio, both values, and the step and place of the later one. `positive` selects the values.
    """
    columns = (pl.col("value"), pl.col("step"), pl.struct(PLACE))
    value, step, place = (column.filter(positive) for column in columns)
    rises = value / value.shift()
    named = {"jump_from": value.shift(), "jump_to": value, "jump_step": step, "_jump_place": place}
    yield rises.max().alias("jump")
    for name, column in named.items():
        yield column.get(rises.arg_max(), null_on_oob=True).alias(name)


def ratio(value: float | None, start: float | None) -> float | None:
    """Return the absolute ratio of two values; None if there is none."""
    if value is None or not start:
        return None
    return abs(value / start)
