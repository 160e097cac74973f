"""Renders the report as one self-contained HTML file of less than a megabyte."""

from collections.abc import Mapping
from typing import Any

from analyzer.render.document import in_schema_order
from analyzer.render.page.template import fill
from analyzer.render.page.view import ascii_json, view
from analyzer.render.trim import Limits, trim

MAX_BYTES = 960_000
_MAX_ROUNDS = 8


def render(diagnosis: Mapping[str, Any]) -> str:
    """Return the report as HTML; the diagnosis is trimmed until the page has at most `MAX_BYTES`."""
    limits = Limits()
    for n in range(_MAX_ROUNDS):
        trimmed = trim(diagnosis, limits)
        document = ascii_json(in_schema_order(trimmed.diagnosis))
        # Without the embedded JSON, the page has at least as many bytes as the JSON.
        if n == _MAX_ROUNDS - 1 or 2 * len(document) < MAX_BYTES:
            page = fill("report.html.j2", view(trimmed, document))
            if len(page.encode()) <= MAX_BYTES:
                break
        limits = limits.halved()
    return page
