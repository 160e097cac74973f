"""Stores when object stores were listed in full, and which of their runs need not be listed again."""

from collections.abc import Mapping

import sqlalchemy as sa

from analyzer.triage.database.history import History
from analyzer.triage.database.schema import NIGHTS, RUNS
from analyzer.triage.examine.settled_runs import StoredRun


def stored_runs(history: History, root: str) -> list[StoredRun]:
    """Return all runs below a root."""
    columns = [RUNS.c[name] for name in StoredRun._fields]
    rows = history.rows(sa.select(*columns).where(RUNS.c.latest, RUNS.c.root == root))
    return [StoredRun(**row) for row in rows]


def settle(history: History, files: Mapping[str, int]) -> None:
    """Store that runs need not be listed again; `files` maps each run to its number of files."""
    changed = sa.update(RUNS).where(RUNS.c.latest, RUNS.c.place == sa.bindparam("run"))
    if rows := [{"run": place, "files": count} for place, count in files.items()]:
        with history.engine.begin() as connection:
            connection.execute(changed, rows)


def is_listed(history: History, since: str) -> bool:
    """Return True if the roots were listed in full on a night after `since`."""
    listed = sa.select(NIGHTS.c.date).where(NIGHTS.c.listed, NIGHTS.c.date > since)
    return bool(history.rows(listed.limit(1)))


def mark_listed(history: History, date: str) -> None:
    """Store that the roots were listed in full on a night."""
    with history.engine.begin() as connection:
        connection.execute(sa.update(NIGHTS).where(NIGHTS.c.date == date).values(listed=True))
