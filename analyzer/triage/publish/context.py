"""Holds what the outputs of a night show besides its summary."""

from collections.abc import Mapping
from typing import NamedTuple

from analyzer.triage.database.acknowledgements import Acknowledgement, acknowledgements
from analyzer.triage.database.history import History
from analyzer.triage.group_details import GroupDetails, first_failures, group_details
from analyzer.triage.layout import JobPath, Layout
from analyzer.triage.night_summary import NightSummary, Run
from analyzer.triage.publish.links import Links


class PageContext(NamedTuple):
    """Links, layout, details and acknowledgements by fingerprint, and first failures of jobs in 30 nights.

    `date` is the night shown and `today` that of the call; `address` is the URL of the outputs, if known.
    """

    date: str = ""
    today: str = ""
    links: Links = Links()
    layout: Layout = Layout()
    details: Mapping[str, GroupDetails] = {}
    acknowledged: Mapping[str, Acknowledgement] = {}
    first_failures: tuple[Run, ...] = ()
    address: str = ""

    def job(self, run: Run) -> JobPath:
        """Return team, job and owner of a run."""
        return self.layout.of(run.place, run.root)

    def whose(self, run: Run) -> str:
        """Return team, job and owner of a run as a phrase; empty if none is known."""
        found = self.job(run)._asdict()
        return ", ".join(f"{name} {value}" for name, value in found.items() if value)

    def is_acknowledged(self, fingerprint: str) -> bool:
        """Return True if the group is acknowledged on the night of the call."""
        found = self.acknowledged.get(fingerprint)
        return found is not None and found.holds(self.today)

    def is_muted(self, fingerprint: str) -> bool:
        """Return True if the group is acknowledged and not to be shown in digests."""
        return self.is_acknowledged(fingerprint) and self.acknowledged[fingerprint].muted


NO_CONTEXT = PageContext()


def context_of(
    history: History, summary: NightSummary, links: Links, layout: Layout, today: str
) -> PageContext:
    """Return the context of a night from the history."""
    groups = [each.fingerprint for each in (*summary.groups, *summary.unknown)]
    return PageContext(
        summary.date,
        today,
        links,
        layout,
        group_details(history, groups, summary.date),
        acknowledgements(history),
        first_failures(history, layout, summary.date, [each.date for each in summary.nights]),
    )
