"""Reads the machines of runs from the history, for their ranking."""

from collections.abc import Collection

import polars as pl
from sqlalchemy import and_, case, or_, select

from analyzer.triage.database.history import History
from analyzer.triage.database.schema import HOSTS, RUNS
from analyzer.triage.hosts import SHARES

_DECIDED = ("healthy", "failed", "degraded")


def host_shares(history: History, since: str, date: str, machine_causes: Collection[str]) -> pl.DataFrame:
    """Return the machines of all runs with a verdict between two nights, with the columns of `SHARES`.

    A culprit counts if its run has one of the `machine_causes`, whoever owns the failure.
    """
    counts = and_(
        RUNS.c.verdict != "healthy", or_(RUNS.c.cause.in_(list(machine_causes)), RUNS.c.cause.is_(None))
    )
    wanted = select(
        HOSTS.c.run,
        RUNS.c.job,
        HOSTS.c.host,
        HOSTS.c.role,
        HOSTS.c.workers,
        case((counts, HOSTS.c.culprits), else_=0).label("culprits"),
    ).join(RUNS, RUNS.c.id == HOSTS.c.run)
    within = and_(RUNS.c.latest, RUNS.c.verdict.in_(_DECIDED), RUNS.c.night.between(since, date))
    rows = history.rows(wanted.where(within).order_by(RUNS.c.place, HOSTS.c.host))
    return pl.DataFrame(rows, schema=SHARES, orient="row")
