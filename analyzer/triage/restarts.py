"""Determines whether restarts helped, from the next run of the same job after a failed run."""

import re
from typing import NamedTuple

_AGAIN = re.compile(r"[-_.]?(?:attempt|retry|restart(?:ed)?|rerun|again|try)[-_.]?\d{0,4}(?![a-z0-9])")
_DATE = re.compile(
    r"(?<!\d)20\d\d[-_./]?[01]\d[-_./]?[0-3]\d"
    r"(?:[-_.t]?[0-2]\d[-_.:]?[0-5]\d(?:[-_.:]?[0-5]\d)?z?|[-_.t][0-2]?\d(?:h|z|utc)(?![a-z0-9])"
    r"|[-_./t]\d{1,3}(?:h|z|utc)?(?:/[0-5]\d)?(?=/|$))?(?!\d)"
)
"""Regex for a date in a path, with a time, an hour or the number of a run on that day behind it."""
_ID = re.compile(
    r"(?<![a-z0-9])(?:[1-9]\d{3,}(?:[-_.]\d{1,4})?|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    r"|(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,40})$"
)
"""Number of a scheduler's job (with array task), UUID or digest at the end of a name; `job-17` has none."""
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
        """Return the outcome as a clause: `helped 2 of 3 times; last time it failed in the same way`."""
        ways = {
            "helped": "it helped",
            "same": "it failed in the same way",
            "other": "it failed in a different way",
        }
        if self.known == 1:
            return "helped" if self.helped else f"did not help: {ways[self.last]}"
        return f"helped {self.helped} of {self.known} times; last time {ways[self.last]}"


def job_of(place: str, root: str = "") -> str | None:
    """Return the path without attempts, dates and ids, which identifies a job; None if no name is left.

    `bert/48213` and `bert/48240` are runs of `bert`, as are `bert-48213` and `bert/20261121-0100`.
    """
    below = _DATE.sub("", place.removeprefix(root.rstrip("/")).lower())
    names = [name for part in below.split("/") if (name := _job_name(part))]
    return f"{root.rstrip('/')}/{'/'.join(names)}" if names else None


def _job_name(part: str) -> str:
    return _ID.sub("", _AGAIN.sub("", part).strip("-_.")).strip("-_.")


def restart(outcomes: list[tuple[str | None, str | None]], fingerprint: str) -> Restart | None:
    """Return the outcome of restarts from (verdict, fingerprint) of each next run, oldest first."""
    if not outcomes:
        return None
    helped = [verdict == "healthy" for verdict, _ in outcomes]
    same = outcomes[-1][1] == fingerprint
    return Restart(len(outcomes), sum(helped), "helped" if helped[-1] else "same" if same else "other")
