"""Stores results of all nights in SQLite beside the reports, or on a server that SQLAlchemy supports."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

import sqlalchemy as sa
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from analyzer.engine import RulePack
from analyzer.model.errors import UsageError
from analyzer.model.log_template import template_of
from analyzer.triage.database.schema import ABOUT, EVENTS, HOSTS, METADATA, NIGHTS, RUNS, UPGRADES, VERSION
from analyzer.triage.examine.run_task import ExaminedRun
from analyzer.triage.locks import WaitPolicy, acquire, file_lock
from analyzer.triage.restarts import job_of

MAX_TRIES = 3
"""Maximum number of nights on which a run with a transient problem is examined."""
_BUSY_MILLISECONDS = 30_000
"""Maximum time that a transaction of SQLite waits for another one."""
_ADVISORY_LOCK = 0x6D776D73
"""Key of the advisory lock on a database server ("mwms" in ASCII)."""


class KnownRun(NamedTuple):
    """The columns, in a run's latest row, that decide whether to examine the run again."""

    stamp: str
    content: str
    tries: int
    night: str
    verdict: str | None
    rule: str | None
    rules: str | None
    """Digest of all rules that examined it; None in histories of former versions."""
    rule_digest: str | None
    files: int | None

    def is_outdated(self, pack: RulePack, *, every: bool = False) -> bool:
        """Return True if other rules may explain the run: it has no cause, its rule changed, or `every`."""
        if self.rules == pack.digest or (self.verdict in {None, "healthy"} and not every):
            return False
        return every or self.rule is None or pack.rule_digest(self.rule) != self.rule_digest

    def is_current(self, stamp: str) -> bool:
        """Return True if a run with this stamp need not be examined again."""
        return stamp == self.stamp and not 0 < self.tries < MAX_TRIES


class UnreportedRun(NamedTuple):
    """Columns of a run that decide the exit status."""

    verdict: str | None
    problem: str
    fingerprint: str | None
    place: str
    root: str | None


class History:
    """Open history; each method is one transaction, and leaving the `with` block closes it."""

    def __init__(self, engine: sa.Engine) -> None:
        self.engine = engine

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.engine.dispose()

    def exclusive(self, policy: WaitPolicy) -> AbstractContextManager[None]:
        """Keep other calls of mwms-triage from writing to the history during the `with` block.

        PostgreSQL holds an advisory lock, SQLite one on a file beside the database.

        Raises:
            UsageError: another call holds the lock longer than `policy` allows.
        """
        url = self.engine.url
        if self.engine.dialect.name == "postgresql":
            return _advisory_lock(self.engine, policy)
        if self.engine.dialect.name == "sqlite" and url.database and url.database != ":memory:":
            file = Path(url.database)
            return file_lock(file.with_name(f".{file.name}.lock"), f"--history {url}", policy)
        return nullcontext()

    def is_first_call(self) -> bool:
        """Return True if no earlier call has recorded a run and ended."""
        return not self.rows(sa.select(RUNS.c.night).join(NIGHTS, NIGHTS.c.ended.is_not(None)).limit(1))

    def dates(self, until: str) -> list[str]:
        """Return the dates of all nights with examined runs up to a date, in order."""
        nights = sa.select(RUNS.c.night).distinct().where(RUNS.c.latest, RUNS.c.night <= until)
        return [row["night"] for row in self.rows(nights.order_by(RUNS.c.night))]

    def begin(self, date: str, now: float) -> None:
        """Create the row of a night unless it exists; `now` is in seconds since the epoch."""
        with self.engine.begin() as connection:
            if connection.execute(sa.select(NIGHTS.c.date).where(NIGHTS.c.date == date)).first() is None:
                connection.execute(sa.insert(NIGHTS).values(date=date, began=now))

    def end(self, date: str, now: float, found: int, waiting: int, unlisted: Iterable[Sequence[str]]) -> None:
        """Store the end and the counts of a night, and mark all runs as reported."""
        reasons = storable_text(json.dumps([list(each) for each in unlisted]))
        with self.engine.begin() as connection:
            night = sa.update(NIGHTS).where(NIGHTS.c.date == date)
            connection.execute(night.values(ended=now, found=found, waiting=waiting, unlisted=reasons))
            connection.execute(sa.update(RUNS).where(RUNS.c.told.is_(False)).values(told=True))

    def known(self, places: Sequence[str]) -> dict[str, KnownRun]:
        """Return the stored state of each given run (path or URL) that was examined before."""
        columns = [RUNS.c[name] for name in KnownRun._fields]
        given = RUNS.c.place.in_(sa.bindparam("places", expanding=True))
        wanted = sa.select(RUNS.c.place, *columns).where(RUNS.c.latest, given)
        return {row.pop("place"): KnownRun(**row) for row in self.rows(wanted, {"places": list(places)})}

    def record(
        self, date: str, examined: Iterable[tuple[ExaminedRun, str | None]], address: str = ""
    ) -> None:
        """Store examined runs with their report paths; rows of the same run and night are replaced.

        `address` is the URL at which the output directory is served, if there is one.
        """
        with self.engine.begin() as connection:
            for each, report in examined:
                _store_run(connection, date, each, {"report": report, "address": address})

    def unreported(self) -> list[UnreportedRun]:
        """Return the runs that no exit status has reported yet."""
        of = (RUNS.c[name] for name in UnreportedRun._fields)
        rows = self.rows(sa.select(*of).where(RUNS.c.told.is_(False), RUNS.c.latest))
        return [UnreportedRun(**row) for row in rows]

    def reports(self) -> set[str]:
        """Return the report paths of all runs."""
        rows = self.rows(sa.select(RUNS.c.report).where(RUNS.c.report.is_not(None), RUNS.c.latest))
        return {row["report"] for row in rows}

    def forget_reports(self, before: str) -> list[tuple[str, str]]:
        """Clear the report paths of nights before a date (`YYYY-MM-DD`); return (night, path) of each."""
        expired = sa.and_(RUNS.c.night < before, RUNS.c.report.is_not(None))
        found = self.rows(sa.select(RUNS.c.night, RUNS.c.report).where(expired, RUNS.c.latest))
        with self.engine.begin() as connection:
            connection.execute(sa.update(RUNS).where(expired).values(report=None))
        return [(row["night"], row["report"]) for row in found]

    def forget_runs(self, before: str) -> None:
        """Delete the runs, nights and events before a date (`YYYY-MM-DD`)."""
        old = sa.select(RUNS.c.id).where(RUNS.c.night < before)
        with self.engine.begin() as connection:
            connection.execute(HOSTS.delete().where(HOSTS.c.run.in_(old)))
            connection.execute(RUNS.delete().where(RUNS.c.night < before))
            connection.execute(NIGHTS.delete().where(NIGHTS.c.date < before))
            connection.execute(EVENTS.delete().where(EVENTS.c.night < before))

    def rows(
        self, statement: sa.Select[Any], values: Mapping[str, Any] | None = None
    ) -> list[dict[str, Any]]:
        """Return the rows of a query as dicts; `values` are the values of its parameters."""
        with self.engine.connect() as connection:
            return [dict(row) for row in connection.execute(statement, values).mappings()]


def open_history(url: str) -> History:
    """Return the history at an SQLAlchemy URL, created or upgraded if necessary.

    Raises:
        UsageError: the database cannot be reached, or is of a later version.
    """
    try:
        engine = sa.create_engine(make_url(url))
    except (NoSuchModuleError, ImportError) as error:
        advice = "; use sqlite:///FILE, or postgresql+psycopg://… after pip install '.[postgres]'"
        problem = f"there is no driver for it ({_error_text(error)})"
        raise UsageError(f"--history {_url_without_password(url)}: {problem}{advice}") from error
    except ArgumentError as error:
        raise UsageError(f"--history {_url_without_password(url)}: {_error_text(error)}") from error
    if engine.dialect.name == "sqlite":
        sa.event.listen(engine, "connect", _configure_sqlite)
        sa.event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    try:
        with engine.begin() as connection:
            _upgrade(connection)
    except SQLAlchemyError as error:
        raise UsageError(f"--history {_url_without_password(url)}: {_error_text(error)}") from error
    return History(engine)


@contextmanager
def as_usage_errors() -> Iterator[None]:
    """Convert database errors in the `with` block to usage errors.

    Raises:
        UsageError: SQLAlchemy raised an error.
    """
    try:
        yield
    except SQLAlchemyError as error:
        raise UsageError(f"the history: {_error_text(error)}") from error


def default_history_url(folder: Path) -> str:
    """Return the URL of the SQLite history in a directory."""
    return f"sqlite:///{folder.resolve() / 'history.sqlite'}"


def storable_values(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a row with its texts made storable."""
    return {name: storable_text(value) if isinstance(value, str) else value for name, value in given.items()}


def storable_text(given: str) -> str:
    """Return the text with NUL and lone surrogates, which databases reject, replaced by visible ones."""
    return given.replace("\0", "␀").encode("utf-8", "backslashreplace").decode()


def _store_run(
    connection: sa.Connection, date: str, examined: ExaminedRun, report: Mapping[str, str | None]
) -> None:
    place = storable_text(examined.task.place)
    ours = RUNS.c.place == place
    if examined.outcome == "same":
        stamp = {"stamp": examined.task.stamp, "tries": 0}
        connection.execute(sa.update(RUNS).where(ours, RUNS.c.latest).values(**stamp))
        return
    tries = _tries(connection, examined, place)
    connection.execute(sa.update(RUNS).where(ours, RUNS.c.latest).values(latest=False))
    connection.execute(RUNS.delete().where(ours, RUNS.c.night == date))
    connection.execute(sa.update(RUNS).where(_is_below(connection, place)).values(latest=False))
    values = _run_values(examined) | {"place": place, "night": date, "tries": tries, **report}
    (run,) = connection.execute(sa.insert(RUNS).values(values)).inserted_primary_key or (0,)
    if examined.summary and examined.summary.rules:
        _adopt(connection, values)
    if hosts := examined.summary.hosts if examined.summary else ():
        held = [{"run": run, "host": storable_text(each.name), **each.counts} for each in hosts]
        connection.execute(sa.insert(HOSTS), held)


def _is_below(connection: sa.Connection, place: str) -> sa.ColumnElement[bool]:
    """Return the condition for runs stored below `place`: parts of a run that had not arrived completely."""
    below = place.rstrip("/") + "/"
    ordered = RUNS.c.place.collate("C") if connection.dialect.name == "postgresql" else RUNS.c.place
    return sa.and_(RUNS.c.latest, ordered > below, ordered < below[:-1] + chr(ord("/") + 1))


def _adopt(connection: sa.Connection, values: Mapping[str, Any]) -> None:
    """Move failures stored by a former version to the group of a run with equal cause and job or summary."""
    former = sa.and_(RUNS.c.rules.is_(None), RUNS.c.cause == values["cause"])
    columns = (RUNS.c.fingerprint, RUNS.c.job, RUNS.c.summary)
    template = template_of(values["summary"])
    same = {
        fingerprint
        for fingerprint, job, summary in connection.execute(sa.select(*columns).where(former).distinct())
        if (job and job == values["job"]) or template_of(summary or "") == template
    }
    if same:
        own = {"fingerprint": values["fingerprint"], "rules": ""}
        connection.execute(sa.update(RUNS).where(former, RUNS.c.fingerprint.in_(same)).values(own))


def _run_values(examined: ExaminedRun) -> dict[str, Any]:
    task, summary = examined.task, examined.summary
    values: dict[str, Any] = {
        "latest": True,
        "told": bool(task.night),
        "root": task.root,
        "stamp": task.stamp,
        "content": examined.content,
        "files": task.files,
        "problem": examined.problem,
        "name": task.place.rstrip("/").rpartition("/")[2],
    }
    if summary:
        stated = {name: value for name, value in summary._asdict().items() if name != "hosts"}
        values |= stated | {"culprits": json.dumps(summary.culprits), "job": job_of(task.place, task.root)}
    return storable_values(values)


def _tries(connection: sa.Connection, examined: ExaminedRun, place: str) -> int:
    """Return the number of nights on which the unchanged run had a transient problem, including this one."""
    if not examined.transient:
        return 0
    unchanged = sa.and_(RUNS.c.place == place, RUNS.c.latest, RUNS.c.stamp == examined.task.stamp)
    return int(connection.execute(sa.select(sa.func.max(RUNS.c.tries)).where(unchanged)).scalar() or 0) + 1


def _upgrade(connection: sa.Connection) -> None:
    """Create the tables, or upgrade them to `VERSION`; raise UsageError if they are newer."""
    if not sa.inspect(connection).has_table(ABOUT.name):
        METADATA.create_all(connection)
        connection.execute(sa.insert(ABOUT).values(version=VERSION))
        return
    version = connection.execute(sa.select(ABOUT.c.version)).scalar_one()
    if version > VERSION:
        raise UsageError(f"the history is of version {version}, and this program knows {VERSION} at most")
    for upgrade in UPGRADES[version - 1 :]:
        for statement in filter(str.strip, upgrade.read_text(encoding="utf-8").split(";")):
            connection.execute(sa.text(statement))
    if version < VERSION:
        connection.execute(sa.update(ABOUT).values(version=VERSION))


@contextmanager
def _advisory_lock(engine: sa.Engine, policy: WaitPolicy) -> Iterator[None]:
    """Hold an advisory lock of PostgreSQL, which the server releases if the connection is lost."""
    with engine.connect() as connection:
        asked = sa.select(sa.func.pg_try_advisory_lock(_ADVISORY_LOCK))

        def try_lock() -> bool:
            held = bool(connection.execute(asked).scalar())
            connection.commit()
            return held

        acquire(try_lock, "--history", policy)
        try:
            yield
        finally:
            with suppress(SQLAlchemyError):  # a lost connection has lost its lock, too
                connection.execute(sa.select(sa.func.pg_advisory_unlock(_ADVISORY_LOCK)))


def _configure_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    """Enable foreign keys; turn off the driver's own transactions, which do not cover CREATE TABLE."""
    connection.isolation_level = None
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA busy_timeout = {_BUSY_MILLISECONDS}")


def _url_without_password(url: str) -> str:
    try:
        return make_url(url).render_as_string(hide_password=True)
    except ArgumentError:
        return url.partition("://")[0]


def _error_text(error: Exception) -> str:
    inner = error.orig if isinstance(error, DBAPIError) and error.orig else error
    return " ".join(str(inner).split())[:300]
