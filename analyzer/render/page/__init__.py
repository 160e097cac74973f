"""The report: one self-contained HTML file, under a megabyte whatever the run."""

from collections.abc import Mapping
from typing import Any

from analyzer.render.page.template import fill
from analyzer.render.page.view import view
from analyzer.render.trim import Limits, trim

MOST_BYTES = 960_000
_ROUNDS = 8


def render(diagnosis: Mapping[str, Any]) -> str:
    """Render the page, cutting the diagnosis further until the page is small enough."""
    limits = Limits()
    for _ in range(_ROUNDS):
        page = fill(view(trim(diagnosis, limits)))
        if len(page.encode()) <= MOST_BYTES:
            break
        limits = limits.tighter()
    return page
