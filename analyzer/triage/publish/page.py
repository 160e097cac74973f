"""Renders the index page: the night on one screen, then details."""

from analyzer import __version__
from analyzer.render.decision import wording
from analyzer.render.page.template import fill
from analyzer.triage.night_summary import TREND_NIGHTS, NightSummary
from analyzer.triage.publish.calendar import calendar, spark, weeks
from analyzer.triage.publish.links import Links
from analyzer.triage.publish.phrasing import STATES, chance, guilt, headline, rate, when

NO_LINKS = Links()


def page(summary: NightSummary, links: Links = NO_LINKS, today: str = "") -> str:
    """Return the index page, or the page of a night, as HTML; its size is bounded for any history.

    `today` is the date of the call; the index page states it if the night shown is an earlier one.
    """
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
            "links": links,
            "quiet": today if today > summary.date else "",
            "weeks": weeks(summary.nights),
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
