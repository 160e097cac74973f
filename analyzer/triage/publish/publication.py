"""Writes all outputs of a call, and the pages of the nights that it changed."""

from collections.abc import Iterable
from typing import NamedTuple

from analyzer.engine import RulePack
from analyzer.triage.database.history import History
from analyzer.triage.night_summary import runs_of_night, summarize_night
from analyzer.triage.publish import digest, lines, metrics, page
from analyzer.triage.publish.links import Links
from analyzer.triage.publish.output_files import NIGHTS, REPORTS, Outputs


class CallCounts(NamedTuple):
    """Date of a call, and what it counted: runs found, runs still being written, directories not listed."""

    date: str
    found: int
    waiting: int
    unlisted: tuple[tuple[str, str], ...]


def publish(
    outputs: Outputs, history: History, call: CallCounts, touched: Iterable[str], pack: RulePack
) -> None:
    """Write the outputs of a call and the pages of the `touched` nights; remove pages without a night.

    The index page is written last, because it links to the others. If no run is new or changed, it shows the
    last night with runs.
    """
    dates = history.dates(call.date)
    links = Links(frozenset(outputs.files(REPORTS)), frozenset(dates))
    for date in {*touched} & {*dates}:
        summary = summarize_night(history, date, *_counts(call, date), pack)
        outputs.write(f"{NIGHTS}/{date}.html", page.page(summary, links._replace(night=date)).encode())
    for name in {*outputs.files(NIGHTS)} - {f"{NIGHTS}/{date}.html" for date in dates}:
        outputs.remove(name)
    tonight = summarize_night(history, call.date, *_counts(call, call.date), pack)
    runs = runs_of_night(history, call.date)
    outputs.write("runs.jsonl", lines.lines(runs, tonight).encode())
    outputs.write("digest.md", digest.digest(tonight).encode())
    outputs.write("metrics.prom", metrics.metrics(tonight))
    last = (dates or [call.date])[-1]
    shown = tonight if last == call.date else summarize_night(history, last, *_counts(call, call.date), pack)
    outputs.write("index.html", page.page(shown, links, call.date).encode())


def _counts(call: CallCounts, date: str) -> tuple[int | None, int, tuple[tuple[str, str], ...]]:
    """Return the counts of a call for the summary of its own night; other nights have none."""
    return (call.found, call.waiting, call.unlisted) if date == call.date else (None, 0, ())
