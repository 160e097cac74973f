"""The index page: the night on one screen, then all that is behind it; small whatever the history."""

from __future__ import annotations

from analyzer import __version__
from analyzer.render.page.template import fill_with
from analyzer.render.phrasing import VERDICTS
from analyzer.triage.calendar import calendar, spark
from analyzer.triage.night_summary import SPAN, NightSummary
from analyzer.triage.phrasing import STATES, guilt, headline, when


def page(told: NightSummary) -> str:
    """Fill the page's template."""
    night = told.tonight
    kinds = ("failed", "degraded", "inconclusive", "healthy")
    worst = next((each for each in kinds if getattr(night, each)), "inconclusive")
    return fill_with(
        "triage.html.j2",
        styles=("report.css", "triage.css"),
        scripts=("triage.js",),
        view={
            "t": told,
            "worst": worst,
            "headline": headline(told),
            "verdicts": VERDICTS,
            "states": STATES,
            "calendar": calendar(told.nights, told.date),
            "sparks": [spark(cause.by_night) for cause in told.causes],
            "when": when,
            "guilt": guilt,
            "span": SPAN,
            "version": __version__,
        },
    )
