"""The report: one self-contained HTML file, under a megabyte whatever the run."""

from collections.abc import Mapping
from typing import Any

from analyzer.render.document import ordered
from analyzer.render.page.template import fill, warm_up
from analyzer.render.page.view import in_ascii, view
from analyzer.render.trim import Limits, trim

__all__ = ["MOST_BYTES", "render", "warm_up"]

MOST_BYTES = 960_000
_ROUNDS = 8


def render(diagnosis: Mapping[str, Any]) -> str:
    """Render the page, cutting the diagnosis further until the page is small enough."""
    limits = Limits()
    for n in range(_ROUNDS):
        trimmed = trim(diagnosis, limits)
        document = in_ascii(ordered(trimmed.diagnosis))
        # The page holds its diagnosis as JSON twice; what it shows is never smaller.
        if n == _ROUNDS - 1 or 3 * len(document) < MOST_BYTES:
            page = fill(view(trimmed, document))
            if len(page.encode()) <= MOST_BYTES:
                break
        limits = limits.tighter()
    return page
