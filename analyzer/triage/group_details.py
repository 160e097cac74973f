"""Computes the first run and the hosts of a group, and which failures are the first of their job."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import and_, func, select

from analyzer.triage.database.history import History
from analyzer.triage.database.schema import HOSTS, RUNS
from analyzer.triage.layout import Layout
from analyzer.triage.night_summary import BAD, Run, run_from_row

_MAX_HOSTS = 6
_FIRST_FAILURE_NIGHTS = 30
_MIN_HEALTHY_NIGHTS = 3
"""Minimum number of healthy nights after which a job's failure is news."""


class HostShare(NamedTuple):
    """A host of a group's runs, with the number of runs in which it had a culprit."""

    name: str
    culprit_runs: int


class GroupDetails(NamedTuple):
    """First run of a group, and its hosts: those of culprits first, at most 6 of `host_count`."""

    first: Run
    hosts: tuple[HostShare, ...]
    host_count: int


def group_details(history: History, fingerprints: Iterable[str], date: str) -> dict[str, GroupDetails]:
    """Return the details of groups by fingerprint, up to a date (`YYYY-MM-DD`)."""
    return {each: _details(history, each, date) for each in dict.fromkeys(fingerprints)}


def _details(history: History, fingerprint: str, date: str) -> GroupDetails:
    ours = and_(RUNS.c.latest, RUNS.c.fingerprint == fingerprint, RUNS.c.night <= date)
    ordered = select(RUNS).where(ours).order_by(RUNS.c.night, RUNS.c.started, RUNS.c.place)
    first = history.rows(ordered.limit(1))[0]
    guilty = func.sum(func.sign(HOSTS.c.culprits)).label("guilty")
    hosts = select(HOSTS.c.host, guilty).join(RUNS, RUNS.c.id == HOSTS.c.run).where(ours)
    found = history.rows(hosts.group_by(HOSTS.c.host).order_by(guilty.desc(), HOSTS.c.host))
    shares = tuple(HostShare(row["host"], int(row["guilty"])) for row in found[:_MAX_HOSTS])
    return GroupDetails(run_from_row(first), shares, len(found))


def first_failures(history: History, layout: Layout, date: str, dates: Iterable[str]) -> tuple[Run, ...]:
    """Return the runs of a night that are the first failure of their job within 30 nights.

    The job was healthy on at least 3 of these nights, so that a new job is not news.
    """
    before = [each for each in dates if each < date][-_FIRST_FAILURE_NIGHTS:]
    failed = and_(RUNS.c.latest, RUNS.c.night == date, RUNS.c.verdict.in_(BAD))
    tonight = history.rows(select(RUNS).where(failed).order_by(RUNS.c.started.desc(), RUNS.c.place.desc()))
    first = {layout.of(row["place"], row["root"])[:2]: run_from_row(row) for row in tonight}
    if not before or not first:
        return ()
    within = and_(RUNS.c.latest, RUNS.c.night >= before[0], RUNS.c.night < date)
    seen = history.rows(select(RUNS.c.place, RUNS.c.root, RUNS.c.verdict, RUNS.c.night).where(within))
    healthy: dict[tuple[str | None, ...], set[str]] = defaultdict(set)
    bad = set()
    for row in seen:
        job = layout.of(row["place"], row["root"])[:2]
        if row["verdict"] == "healthy":
            healthy[job].add(row["night"])
        elif row["verdict"] in BAD:
            bad.add(job)
    return tuple(
        run
        for job, run in first.items()
        if job[1] and job not in bad and len(healthy[job]) >= _MIN_HEALTHY_NIGHTS
    )
