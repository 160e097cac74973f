"""Renders the index page: the night on one screen, then details."""

from analyzer import __version__
from analyzer.render.decision import wording
from analyzer.render.page.template import fill
from analyzer.triage.night_summary import TREND_NIGHTS, NightSummary
from analyzer.triage.publish.calendar import calendar, spark
from analyzer.triage.publish.phrasing import STATES, chance, guilt, headline, rate, when


def page(summary: NightSummary) -> str:
    """Return the index page as HTML; its size is bounded for any history."""
    night = summary.tonight
    kinds = ("failed", "degraded", "inconclusive", "healthy")
    worst = next((each for each in kinds if getattr(night, each)), "inconclusive")
    return fill(
        "triage.html.j2",
        styles=("report.css", "triage.css"),
        scripts=("triage.js",),
        view={
            "t": summary,
            "worst": worst,
            "headline": headline(summary),
            "verdicts": wording()["verdicts"],
            "states": STATES,
            "calendar": calendar(summary.nights, summary.date),
            "sparks": [spark(cause.by_night) for cause in summary.causes],
            "when": when,
            "guilt": guilt,
            "rate": rate,
            "chance": chance,
            "span": TREND_NIGHTS,
            "version": __version__,
        },
    )
