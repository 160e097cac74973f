"""Computes confidence intervals of shares."""

from __future__ import annotations

from math import sqrt

_Z = 1.96
"""Quantile of the normal distribution for a 95 % interval."""


def wilson(right: int, of: int) -> tuple[float, float]:
    """Return the limits of Wilson's 95 % interval for the share `right / of`; `of` is positive."""
    share, spread = right / of, _Z**2 / of
    middle = (share + spread / 2) / (1 + spread)
    half = _Z / (1 + spread) * sqrt(share * (1 - share) / of + spread / (4 * of))
    return max(0.0, middle - half), min(1.0, middle + half)
