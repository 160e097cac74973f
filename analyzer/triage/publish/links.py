"""Links between the index page, the pages of nights and the reports, none of them dead."""

from typing import NamedTuple

from analyzer.triage.night_summary import Run
from analyzer.triage.publish.output_files import NIGHTS


class Links(NamedTuple):
    """Links of one page: the index page, or that of a `night`.

    `reports` are the names of the reports in the output directory, and `nights` the dates with a page.
    """

    reports: frozenset[str] = frozenset()
    nights: frozenset[str] = frozenset()
    night: str = ""

    def run(self, run: Run) -> str | None:
        """Return the link to the report of a run, or None if there is none.

        The page of a night outlives the reports of other nights; it links to the pages of those instead.
        """
        if self.night and run.night != self.night:
            return self.page(run.night)
        if run.report in self.reports:
            return f"../{run.report}" if self.night else run.report
        return absolute(run)

    def page(self, date: str) -> str | None:
        """Return the link to the page of a night, or None if there is none."""
        if date not in self.nights:
            return None
        return f"{date}.html" if self.night else f"{NIGHTS}/{date}.html"


def absolute(run: Run) -> str | None:
    """Return the URL of a run's report, or None if it is not known."""
    return f"{run.address}/{run.report}" if run.address and run.report else None
