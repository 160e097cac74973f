"""Whether starting a job again helped: the next run of the same job, soon after one that failed."""

from __future__ import annotations

import re
from typing import NamedTuple

_AGAIN = re.compile(r"[-_.]?(?:attempt|retry|restart(?:ed)?|rerun|again|try)[-_.]?\d{0,4}(?![a-z0-9])")
_DATE = re.compile(
    r"(?<!\d)20\d\d[-_.]?[01]\d[-_.]?[0-3]\d(?:[-_.t]?[0-2]\d[-_.:]?[0-5]\d(?:[-_.:]?[0-5]\d)?z?)?(?!\d)"
)
RESTART_WINDOW_SECONDS = 86_400.0
"""Seconds after the end of a run in which another one of its job counts as its restart."""


class Restart(NamedTuple):
    """How often the next run of the job is known, how often it went well, and what became of the last."""

    known: int
    helped: int
    last: str
    """`helped`, `same` (it failed in the same way) or `other`."""

    @property
    def says(self) -> str:
        """The same in words."""
        last = {
            "helped": "last time it helped",
            "same": "last time it failed in the same way",
            "other": "last time it failed in another way",
        }[self.last]
        return f"helped {self.helped} of {self.known} times; {last}"


def job_of(place: str) -> str | None:
    """What runs of the same job have in common: their place, without attempts and dates, if that is any."""
    lower = place.lower().rstrip("/")
    job = re.sub(r"[-_.]+(?=/|$)", "", _DATE.sub("", _AGAIN.sub("", lower)))
    return job if job.rpartition("/")[2] else None


def restart(outcomes: list[tuple[str | None, str | None]], fingerprint: str) -> Restart | None:
    """What verdicts and fingerprints of the next runs tell, the oldest first."""
    if not outcomes:
        return None
    helped = [verdict == "healthy" for verdict, _ in outcomes]
    same = outcomes[-1][1] == fingerprint
    return Restart(len(outcomes), sum(helped), "helped" if helped[-1] else "same" if same else "other")
