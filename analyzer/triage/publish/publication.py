"""Writes all outputs of a call, and the pages of the nights that it changed."""

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from analyzer.engine import RulePack
from analyzer.triage.database.events import latest_events, record_events
from analyzer.triage.database.history import History
from analyzer.triage.layout import Layout
from analyzer.triage.night_summary import NightSummary, Run, runs_of_night, summarize_night
from analyzer.triage.notify.events import events
from analyzer.triage.publish import digest, feed, lines, metrics, page
from analyzer.triage.publish.context import PageContext, context_of
from analyzer.triage.publish.links import Links
from analyzer.triage.publish.output_files import DIGESTS, NIGHTS, REPORTS, Outputs

_MAX_FEED_EVENTS = 50
_MAX_NAME_CHARACTERS = 60


class Publication(NamedTuple):
    """What one call publishes: its date, counts and rules, and how its outputs are to be made.

    `reports_url` is the URL at which the output directory is served, and `digest_by` the field of a run
    (team, job or owner) for each value of which a digest is written; both may be empty. `filed` are the
    earlier nights to which the call added runs, `undated` the number of these runs that state no time.
    """

    date: str
    found: int
    waiting: int
    unlisted: tuple[tuple[str, str], ...]
    pack: RulePack
    layout: Layout = Layout()
    reports_url: str = ""
    digest_by: str = ""
    filed: frozenset[str] = frozenset()
    undated: int = 0

    def summary(self, history: History, date: str) -> NightSummary:
        """Return the summary of a night; the number of runs found is known for that of the call only."""
        if date == self.date:
            return summarize_night(history, date, self.found, self.waiting, self.unlisted, self.pack)
        return summarize_night(history, date, None, 0, (), self.pack)

    def context(self, history: History, summary: NightSummary, links: Links) -> PageContext:
        """Return the context of a night."""
        context = context_of(history, summary, links, self.layout, self.date)
        return context._replace(address=self.reports_url, filed=self.filed, undated=self.undated)


def publish(outputs: Outputs, history: History, call: Publication, touched: Iterable[str]) -> None:
    """Write the outputs of a call and the pages of the `touched` nights; remove pages without a night.

    Nights that lack a page get one: another machine may have added them to the history. The index page is
    written last, because it links to the others. If no run is new or changed, it shows the last night with
    runs.
    """
    dates = history.dates(call.date)
    links = Links(frozenset(outputs.files(REPORTS)), frozenset(dates))
    pages = {Path(name).stem for name in outputs.files(NIGHTS)}
    tonight = call.summary(history, call.date)
    context = call.context(history, tonight, links)
    for date in {*dates} - (pages - {*touched}):
        own = date == call.date
        summary = tonight if own else call.summary(history, date)
        theirs = context if own else call.context(history, summary, links)
        linked = theirs._replace(links=links._replace(night=date))
        outputs.write(f"{NIGHTS}/{date}.html", page.page(summary, linked).encode())
    for name in {*outputs.files(NIGHTS)} - {f"{NIGHTS}/{date}.html" for date in dates}:
        outputs.remove(name)
    record_events(history, call.date, events(tonight, context))
    _write_night_files(outputs, tonight, context, runs_of_night(history, call.date), call.digest_by)
    latest = latest_events(history, _MAX_FEED_EVENTS)
    outputs.write("feed.xml", feed.atom(latest, call.date, call.reports_url))
    outputs.write("feed.json", feed.json_feed(latest, call.reports_url).encode())
    last = (dates or [call.date])[-1]
    if last != call.date:
        tonight = call.summary(history, last)
        context = call.context(history, tonight, links)
    outputs.write("index.html", page.page(tonight, context).encode())


def _write_night_files(
    outputs: Outputs, tonight: NightSummary, context: PageContext, runs: list[Run], digest_by: str
) -> None:
    outputs.write("runs.jsonl", lines.lines(runs, tonight, context).encode())
    outputs.write("groups.json", lines.groups_json(tonight, context).encode())
    outputs.write("digest.md", digest.digest(tonight, context).encode())
    outputs.write("metrics.prom", metrics.metrics(tonight))
    digests = _digests(tonight, context, runs, digest_by) if digest_by else {}
    for name, text in digests.items():
        outputs.write(name, text.encode())
    for name in {*outputs.files(DIGESTS)} - {*digests}:
        outputs.remove(name)


def _digests(tonight: NightSummary, context: PageContext, runs: list[Run], digest_by: str) -> dict[str, str]:
    """Return the digest for each owner (team, job) with a failure of the night, by file name."""
    groups: dict[str, set[str]] = {}
    for run in runs:
        if run.fingerprint in tonight.states:
            whose = getattr(context.job(run), digest_by) or "unknown"
            groups.setdefault(whose, set()).add(run.fingerprint or "")
    return {
        f"{DIGESTS}/{_file_name(whose)}.md": digest.digest_for(whose, tonight, context, theirs)
        for whose, theirs in sorted(groups.items())
    }


def _file_name(whose: str) -> str:
    """Return a file name for an owner; if characters had to be replaced, a hash keeps it unique."""
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", whose)[:_MAX_NAME_CHARACTERS].strip(".-")
    digest = hashlib.blake2b(whose.encode(), digest_size=4).hexdigest()
    return plain if plain == whose else f"{plain or 'owner'}-{digest}"
