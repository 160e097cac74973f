"""Determines whether restarts helped, from the next run of the same job after a failed run."""

import re
from typing import NamedTuple

_AGAIN = re.compile(r"[-_.]?(?:attempt|retry|restart(?:ed)?|rerun|again|try)[-_.]?\d{0,4}(?![a-z0-9])")
_DATE = re.compile(
    r"(?<!\d)20\d\d[-_.]?[01]\d[-_.]?[0-3]\d(?:[-_.t]?[0-2]\d[-_.:]?[0-5]\d(?:[-_.:]?[0-5]\d)?z?)?(?!\d)"
)
RESTART_WINDOW_SECONDS = 86_400.0
"""Maximum seconds from the end of a run to the start of its job's next run, to count as a restart."""


class Restart(NamedTuple):
    """Numbers of known restarts and of healthy ones among them, and the outcome of the last."""

    known: int
    helped: int
    last: str
    """`helped`, `same` (failed in the same way) or `other`."""

    @property
    def says(self) -> str:
        """Return the outcome as a clause: `helped 2 of 3 times; last time it helped`."""
        last = {
            "helped": "last time it helped",
            "same": "last time it failed in the same way",
            "other": "last time it failed in another way",
        }[self.last]
        return f"helped {self.helped} of {self.known} times; {last}"


def job_of(place: str) -> str | None:
    """Return the path without attempt and date, which identifies a job; None if no name is left."""
    lower = place.lower().rstrip("/")
    job = re.sub(r"[-_.]+(?=/|$)", "", _DATE.sub("", _AGAIN.sub("", lower)))
    return job if job.rpartition("/")[2] else None


def restart(outcomes: list[tuple[str | None, str | None]], fingerprint: str) -> Restart | None:
    """Return the outcome of restarts from (verdict, fingerprint) of each next run, oldest first."""
    if not outcomes:
        return None
    helped = [verdict == "healthy" for verdict, _ in outcomes]
    same = outcomes[-1][1] == fingerprint
    return Restart(len(outcomes), sum(helped), "helped" if helped[-1] else "same" if same else "other")
