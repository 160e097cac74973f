"""Converts numbers to values that JSON can represent."""

import math

from analyzer.model.contract import JsonNumber


def json_number(value: float) -> JsonNumber:
    """Return the number, or "NaN", "Infinity" or "-Infinity" if JSON cannot represent it."""
    if math.isfinite(value):
        return value
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"
