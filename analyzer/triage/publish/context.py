"""Collects what the outputs of a night show besides its summary: links, owners, acknowledgements."""

from collections.abc import Container, Mapping
from typing import NamedTuple

from sqlalchemy import select

from analyzer.triage.database.acknowledgements import Acknowledgement, acknowledgements
from analyzer.triage.database.history import History
from analyzer.triage.database.schema import RUNS
from analyzer.triage.group_details import GroupDetails, first_failures, group_details
from analyzer.triage.layout import Layout, Ownership
from analyzer.triage.night_summary import NightSummary, Run
from analyzer.triage.publish.links import Links


class PageContext(NamedTuple):
    """Links, layout, details and acknowledgements by fingerprint, and first failures of jobs in 30 nights.

    `of_muted_jobs` are the groups of the night that have runs of muted jobs only.
    `filed` are the earlier nights to which the call added runs, `undated` of which state no time.
    `date` is the night shown and `today` that of the call; `address` is the URL of the outputs, if known.
    """

    date: str = ""
    today: str = ""
    links: Links = Links()
    layout: Layout = Layout()
    details: Mapping[str, GroupDetails] = {}
    acknowledged: Mapping[str, Acknowledgement] = {}
    of_muted_jobs: Container[str] = ()
    first_failures: tuple[Run, ...] = ()
    filed: Container[str] = ()
    undated: int = 0
    address: str = ""

    def job(self, run: Run) -> Ownership:
        """Return team, job and owner of a run."""
        return self.layout.of(run.place, run.root)

    def whose(self, run: Run) -> str:
        """Return team, job and owner of a run as a phrase; empty if none is known."""
        found = self.job(run)._asdict()
        return ", ".join(f"{name} {value}" for name, value in found.items() if value)

    def is_acknowledged(self, fingerprint: str) -> bool:
        """Return True if the group is acknowledged on the night of the call, or its jobs are muted."""
        found = self.acknowledged.get(fingerprint)
        return fingerprint in self.of_muted_jobs or (found is not None and found.holds(self.today))

    def is_muted(self, fingerprint: str) -> bool:
        """Return True if the group is not to be shown in digests."""
        muted = fingerprint in self.of_muted_jobs
        return muted or (self.is_acknowledged(fingerprint) and self.acknowledged[fingerprint].muted)

    def unmuted(self, summary: NightSummary) -> tuple[NightSummary, int]:
        """Return a summary without muted groups, and how many of those it had that are not resolved."""
        muted = {each for each in summary.states if self.is_muted(each)}
        rest = summary.only(summary.states.keys() - muted)
        return rest, sum(summary.states[each] != "gone" for each in muted)


NO_CONTEXT = PageContext()


def context_of(
    history: History, summary: NightSummary, links: Links, layout: Layout, today: str
) -> PageContext:
    """Return the context of a night from the history."""
    groups = [each.fingerprint for each in (*summary.groups, *summary.unknown)]
    first = first_failures(history, layout, summary.date, [each.date for each in summary.nights])
    return PageContext(
        summary.date,
        today,
        links,
        layout,
        group_details(history, groups, summary.date),
        acknowledgements(history),
        groups_of_muted_jobs(history, layout, summary.date, today),
        tuple(run for run in first if not layout.is_muted(run.place, run.root, today)),
    )


def groups_of_muted_jobs(history: History, layout: Layout, night: str, today: str) -> Container[str]:
    """Return the groups of a night that have runs of muted jobs only; `today` is the date of the call."""
    if not layout.muted:
        return ()
    columns = (RUNS.c.fingerprint, RUNS.c.place, RUNS.c.root)
    rows = history.rows(select(*columns).where(RUNS.c.latest, RUNS.c.night == night))
    others = {row["fingerprint"] for row in rows if not layout.is_muted(row["place"], row["root"], today)}
    return {row["fingerprint"] for row in rows} - others
