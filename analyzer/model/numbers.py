"""Numbers as JSON can hold them."""

from __future__ import annotations

import math

from analyzer.model.contract import JsonNumber


def json_number(value: float) -> JsonNumber:
    """Return a number, or the name of one that JSON does not have: NaN, Infinity or -Infinity."""
    if math.isfinite(value):
        return value
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"
