"""The order of positions (epoch, step) in training."""

from collections.abc import Mapping
from typing import Any

import polars as pl


def order(row: Mapping[str, Any]) -> tuple[int, int]:
    """Return the epoch and step of a row for comparing; 0 for the one that it does not have."""
    return (row["epoch"] or 0, row["step"] or 0)


def is_before(at_epoch: int, at_step: int) -> pl.Expr:
    """Return an expression that selects the values logged before a position."""
    epoch, step = pl.col("epoch").fill_null(0), pl.col("step").fill_null(0)
    return (epoch < at_epoch) | ((epoch == at_epoch) & (step < at_step))
