"""Maps the directory of a run to team, job and owner: by a pattern of the user's, or by a guess."""

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import NamedTuple

from analyzer.model.errors import UsageError
from analyzer.triage.restarts import job_of

FIELDS = ("team", "owner", "job", "run", "date")
_CONTAINERS = frozenset(
    {"runs", "run", "jobs", "logs", "output", "outputs", "out", "experiments", "training", "results"}
)
"""Names of directories that say nothing about the run."""
_HOMES = frozenset({"home", "homes", "users", "user"})
"""Names of roots whose directories belong to one person each."""
_NUMBERED = re.compile(
    r"(?:(?:r|run|job|exp|trial|version|v|slurm)?[-_.]?\d+(?:[-_.t]\d+)*z?|(?=.*\d)[0-9a-f]{6,})",
    re.IGNORECASE,
)
"""Regex for names that only distinguish the runs of one job: numbers, dates, hashes."""


class Ownership(NamedTuple):
    """Whose run it is: its team, its job and that job's owner, each None if unknown."""

    team: str | None = None
    job: str | None = None
    owner: str | None = None


class Layout(NamedTuple):
    """How directories map to teams and jobs: `pattern` such as `{team}/{job}/{run}`, empty to guess.

    `owners` maps globs of paths below a root (`nlp/*`) to owners, and `muted` to the last night
    (`YYYY-MM-DD`) on which failures are not reported; the first that matches counts.
    """

    pattern: str = ""
    owners: Mapping[str, str] = {}
    muted: Mapping[str, str] = {}

    def of(self, place: str, root: str | None) -> Ownership:
        """Return team, job and owner of a run from its path or URL and the root below which it was found."""
        path, base = _path_below(place, root), (root or "").rstrip("/")
        matched = pattern_regex(self.pattern).fullmatch(path) if self.pattern else None
        named = {name: value for name, value in (matched.groupdict() if matched else {}).items() if value}
        found = Ownership(named.get("team"), named.get("job"), named.get("owner"))
        found = found if matched else _guess(path, base)
        owner = next((owner for glob, owner in self.owners.items() if fnmatchcase(path, glob)), found.owner)
        return found._replace(owner=owner)

    def is_muted(self, place: str, root: str | None, date: str) -> bool:
        """Return True if failures of this run are not reported on a night."""
        path = _path_below(place, root)
        return date <= next((until for glob, until in self.muted.items() if fnmatchcase(path, glob)), "")


def _path_below(place: str, root: str | None) -> str:
    base = (root or "").rstrip("/")
    inside = place[len(base) :] if base and place.startswith(f"{base}/") else place.rpartition("/")[2]
    return inside.strip("/")


@lru_cache
def pattern_regex(pattern: str) -> re.Pattern[str]:
    """Return the regex of a layout pattern: `{team}` and the like, `*` for any part; more may follow.

    Raises:
        UsageError: a field is unknown, or occurs twice.
    """
    parts = re.split(r"(\{\w*\}|\*)", pattern.strip("/"))
    fields = [part[1:-1] for part in parts if part.startswith("{")]
    if unknown := [field for field in fields if field not in FIELDS or fields.count(field) > 1]:
        known = ", ".join(f"{{{field}}}" for field in FIELDS)
        raise UsageError(f"--layout {pattern}: {{{unknown[0]}}} is not one of {known}, each at most once")
    made = (
        f"(?P<{part[1:-1]}>[^/]+?)" if part.startswith("{") else "[^/]*" if part == "*" else re.escape(part)
        for part in parts
    )
    return re.compile("".join(made) + "(?:/.*)?")


def _guess(path: str, root: str) -> Ownership:
    """Guess from a relative path: the last name that is no number is the job, and the first one the team."""
    names = [part for part in path.split("/") if part.lower() not in _CONTAINERS]
    telling = [part for part in names if not _NUMBERED.fullmatch(part)]
    if not telling:
        return Ownership()
    job = (job_of(telling[-1]) or telling[-1]).strip("/")
    above = telling[0] if len(telling) > 1 else None
    of_person = root.rpartition("/")[2].lower() in _HOMES
    return Ownership(None if of_person else above, job, above if of_person else None)
