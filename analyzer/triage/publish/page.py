"""Renders the index page: the night on one screen, then details."""

from analyzer import __version__
from analyzer.render.decision import wording
from analyzer.render.page.template import fill
from analyzer.triage.night_summary import TREND_NIGHTS, NightSummary
from analyzer.triage.publish.calendar import calendar, spark, weeks
from analyzer.triage.publish.context import NO_CONTEXT, PageContext
from analyzer.triage.publish.phrasing import (
    STATES,
    acknowledged,
    chance,
    drain,
    filed,
    guilt,
    headline,
    rate,
    share,
    when,
)


def page(summary: NightSummary, context: PageContext = NO_CONTEXT) -> str:
    """Return the index page, or the page of a night, as HTML; its size is bounded for any history."""
    night, shown = summary.tonight, context.unmuted(summary)
    kinds = ("failed", "degraded", "inconclusive", "healthy")
    worst = next((each for each in kinds if getattr(night, each)), "inconclusive")
    return fill(
        "triage.html.j2",
        styles=("report.css", "triage.css"),
        scripts=("triage.js",),
        view={
            "t": summary,
            "worst": worst,
            "headline": headline(*shown),
            "shown": shown[0],
            "filed": filed(summary, context.filed, context.undated),
            "verdicts": wording()["verdicts"],
            "states": STATES,
            "c": context,
            "links": context.links,
            "quiet": context.today if context.today > summary.date and not context.links.night else "",
            "acknowledged": acknowledged,
            "weeks": weeks(summary.nights),
            "calendar": calendar(summary.nights, summary.date),
            "sparks": [spark(cause.by_night) for cause in summary.causes],
            "when": when,
            "guilt": guilt,
            "rate": rate,
            "share": share,
            "drain": drain,
            "chance": chance,
            "span": TREND_NIGHTS,
            "version": __version__,
        },
    )
