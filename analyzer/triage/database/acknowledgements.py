"""Stores which groups somebody acknowledged, muted or linked to a ticket."""

from typing import NamedTuple

import sqlalchemy as sa

from analyzer.model.errors import UsageError
from analyzer.triage.database.history import History, storable_values
from analyzer.triage.database.schema import ACKNOWLEDGEMENTS, RUNS

_MIN_PREFIX = 4


class Acknowledgement(NamedTuple):
    """An acknowledgement of a group of failures, its ticket, or both.

    `until` is the last night (`YYYY-MM-DD`) for which the acknowledgement holds, None for all; `created` is
    in seconds since the epoch, None if the group only has a ticket.
    """

    fingerprint: str
    until: str | None = None
    note: str = ""
    ticket: str = ""
    muted: bool = False
    created: float | None = None

    def holds(self, date: str) -> bool:
        """Return True if the group is acknowledged on a date."""
        return self.created is not None and (self.until is None or date <= self.until)


def acknowledgements(history: History) -> dict[str, Acknowledgement]:
    """Return all acknowledgements by fingerprint."""
    rows = history.rows(sa.select(ACKNOWLEDGEMENTS))
    return {row["fingerprint"]: Acknowledgement(**row) for row in rows}


def acknowledge(history: History, given: Acknowledgement) -> None:
    """Store an acknowledgement in place of an earlier one of the group."""
    with history.engine.begin() as connection:
        connection.execute(ACKNOWLEDGEMENTS.delete().where(_of(given.fingerprint)))
        connection.execute(sa.insert(ACKNOWLEDGEMENTS).values(storable_values(given._asdict())))


def withdraw(history: History, fingerprint: str) -> None:
    """Delete the acknowledgement of a group, if there is one."""
    with history.engine.begin() as connection:
        connection.execute(ACKNOWLEDGEMENTS.delete().where(_of(fingerprint)))


def link_ticket(history: History, fingerprint: str, ticket: str) -> None:
    """Store the ticket of a group, and keep what else is known of it."""
    known = acknowledgements(history).get(fingerprint, Acknowledgement(fingerprint))
    acknowledge(history, known._replace(ticket=ticket))


def find_group(history: History, prefix: str) -> str:
    """Return the only fingerprint of a failure in the history that begins with `prefix`.

    Raises:
        UsageError: there is no such group, or more than one, or the prefix is too short.
    """
    if len(prefix) < _MIN_PREFIX:
        raise UsageError(f"give at least {_MIN_PREFIX} characters of the group, not {prefix!r}")
    like = RUNS.c.fingerprint.startswith(prefix, autoescape=True)
    found = history.rows(sa.select(RUNS.c.fingerprint).distinct().where(like, RUNS.c.verdict != "healthy"))
    if len(found) != 1:
        many = ", ".join(sorted(row["fingerprint"] for row in found)[:5])
        what = f"several groups: {many}" if found else "no such group in the history"
        raise UsageError(f"{prefix}: {what}")
    return str(found[0]["fingerprint"])


def _of(fingerprint: str) -> sa.ColumnElement[bool]:
    return ACKNOWLEDGEMENTS.c.fingerprint == fingerprint
