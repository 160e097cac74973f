"""The report: one self-contained HTML file, under a megabyte whatever the run."""

import json
from collections.abc import Mapping
from typing import Any

from analyzer.render.page.template import fill, make_ready
from analyzer.render.page.view import view
from analyzer.render.trim import Limits, trim

__all__ = ["MOST_BYTES", "make_ready", "render"]

MOST_BYTES = 960_000
_ROUNDS = 8


def render(diagnosis: Mapping[str, Any]) -> str:
    """Render the page, cutting the diagnosis further until the page is small enough."""
    limits = Limits()
    for n in range(_ROUNDS):
        trimmed = trim(diagnosis, limits)
        if n == _ROUNDS - 1 or _may_fit(trimmed.diagnosis):
            page = fill(view(trimmed))
            if len(page.encode()) <= MOST_BYTES:
                break
        limits = limits.tighter()
    return page


def _may_fit(diagnosis: Mapping[str, Any]) -> bool:
    """Say whether a page could be small enough: it holds its diagnosis as JSON twice, and shows it."""
    return 2 * len(json.dumps(diagnosis, separators=(",", ":"))) < MOST_BYTES
