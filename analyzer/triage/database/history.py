"""The history of all nights: in SQLite beside the reports, or on any server that SQLAlchemy supports."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Engine,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Select,
    String,
    Table,
    Text,
    bindparam,
    create_engine,
    event,
    func,
    insert,
    inspect,
    select,
    text,
    update,
)
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from analyzer.model.errors import UsageError
from analyzer.triage.database.upgrades import UPGRADES
from analyzer.triage.examine.run_task import ExaminedRun, Host
from analyzer.triage.restarts import job_of

VERSION = 1 + len(UPGRADES)
"""Version of the tables; an older history is upgraded when it is opened."""
MAX_TRIES = 3
"""Nights on which a run with a transient problem is tried again."""
_ADVISORY_LOCK = 0x6D776D73
"""Key of the advisory lock on a database server ("mwms" in ASCII)."""

_META = MetaData()
ABOUT = Table("about", _META, Column("version", Integer, nullable=False))
NIGHTS = Table(
    "nights",
    _META,
    Column("date", String(10), primary_key=True),
    Column("began", Float, nullable=False),
    Column("ended", Float),
    Column("found", Integer, nullable=False, default=0),
    Column("waiting", Integer, nullable=False, default=0),
    Column("unlisted", Text, nullable=False, default="[]"),
)
RUNS = Table(
    "runs",
    _META,
    Column("id", Integer, primary_key=True),
    Column("place", Text, nullable=False),
    Column("night", String(10), ForeignKey("nights.date"), nullable=False),
    Column("latest", Boolean, nullable=False),
    Column("told", Boolean, nullable=False),
    Column("stamp", String(32), nullable=False),
    Column("content", String(32), nullable=False),
    Column("tries", Integer, nullable=False),
    Column("problem", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("verdict", String(16)),
    Column("cause", Text),
    Column("rule", Text),
    Column("confidence", Float),
    Column("summary", Text),
    Column("fingerprint", String(16)),
    Column("culprits", Text),
    Column("report", Text),
    Column("owner", Text),
    Column("job", Text),
    Column("started", Float),
    Column("ended", Float),
    Index("runs_place", "place"),
    Index("runs_night", "night"),
    Index("runs_fingerprint", "fingerprint", "night"),
    Index("runs_job", "job", "started"),
)
"""One row for each run and night on which it was examined; only the `latest` row of a run counts.

`told` is set once an exit status has reported the run. `tries` counts nights with a transient problem.
"""
HOSTS = Table(
    "hosts",
    _META,
    Column("run", Integer, ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
    Column("host", Text, nullable=False),
    Column("workers", Integer, nullable=False),
    Column("culprits", Integer, nullable=False),
    Index("hosts_run", "run"),
    Index("hosts_host", "host"),
)
"""One row for each machine of a run, with its number of workers and of culprits among them."""


class KnownRun(NamedTuple):
    """The part of a run's latest row that decides whether to examine it again."""

    stamp: str
    content: str
    tries: int

    def is_current(self, stamp: str) -> bool:
        """Return True if a run with this stamp need not be examined again."""
        return stamp == self.stamp and not 0 < self.tries < MAX_TRIES


class History:
    """An open history; every method is one transaction."""

    def __init__(self, engine: Engine, guard: Connection | None = None) -> None:
        self.engine = engine
        self._guard = guard

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._guard is not None:
            self._guard.close()
        self.engine.dispose()

    def begin(self, date: str, now: float) -> None:
        """Begin a night, or continue the one of that date."""
        with self.engine.begin() as connection:
            if connection.execute(select(NIGHTS.c.date).where(NIGHTS.c.date == date)).first() is None:
                connection.execute(insert(NIGHTS).values(date=date, began=now))

    def end(self, date: str, now: float, found: int, waiting: int, unlisted: Iterable[Sequence[str]]) -> None:
        """End a night after all outputs are written, and mark its runs as reported."""
        said = storable_text(json.dumps([list(each) for each in unlisted]))
        with self.engine.begin() as connection:
            night = update(NIGHTS).where(NIGHTS.c.date == date)
            connection.execute(night.values(ended=now, found=found, waiting=waiting, unlisted=said))
            connection.execute(update(RUNS).where(RUNS.c.told.is_(False)).values(told=True))

    def known(self, places: Sequence[str]) -> dict[str, KnownRun]:
        """Return what is known of those places that were examined before."""
        wanted = select(RUNS.c.place, RUNS.c.stamp, RUNS.c.content, RUNS.c.tries).where(
            RUNS.c.latest, RUNS.c.place.in_(bindparam("places", expanding=True))
        )
        with self.engine.connect() as connection:
            rows = connection.execute(wanted, {"places": list(places)})
            return {place: KnownRun(stamp, content, tries) for place, stamp, content, tries in rows}

    def record(self, date: str, examined: Iterable[tuple[ExaminedRun, str | None]]) -> None:
        """Store examined runs with the paths of their reports, replacing rows of the same run and night."""
        with self.engine.begin() as connection:
            for each, report in examined:
                _store_run(connection, date, each, report)

    def unreported(self) -> list[tuple[str | None, str]]:
        """Return verdict and problem of every run that no exit status has reported yet."""
        wanted = select(RUNS.c.verdict, RUNS.c.problem).where(RUNS.c.told.is_(False), RUNS.c.latest)
        with self.engine.connect() as connection:
            return [(verdict, problem) for verdict, problem in connection.execute(wanted)]

    def expired_reports(self, before: str) -> list[str]:
        """Return the reports of nights before a date whose run was not examined again later."""
        old = select(RUNS.c.report).where(RUNS.c.report.is_not(None), RUNS.c.night < before, RUNS.c.latest)
        with self.engine.connect() as connection:
            return list(connection.execute(old).scalars())

    def forget_reports(self, before: str) -> None:
        """Clear the report paths of all nights before a date."""
        with self.engine.begin() as connection:
            connection.execute(update(RUNS).where(RUNS.c.night < before).values(report=None))

    def rows(self, statement: Select[Any]) -> list[dict[str, Any]]:
        """Return the rows of a query as dicts."""
        with self.engine.connect() as connection:
            return [dict(row) for row in connection.execute(statement).mappings()]


def open_history(url: str) -> History:
    """Open a history by its URL; creates a new one and upgrades an old one.

    Raises:
        UsageError: the database cannot be reached, is of a later version, or is locked by another process.

    """
    try:
        engine = create_engine(make_url(url))
    except (ArgumentError, NoSuchModuleError, ImportError) as error:
        hint = "; the extra [postgres] brings the driver" if "postgres" in url else ""
        raise UsageError(f"--history {_url_without_password(url)}: {_error_text(error)}{hint}") from error
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _configure_sqlite)
        event.listen(engine, "begin", _begin_at_once)
    try:
        guard = _acquire_lock(engine)
        with engine.begin() as connection:
            _upgrade(connection)
    except SQLAlchemyError as error:
        raise UsageError(f"--history {_url_without_password(url)}: {_error_text(error)}") from error
    return History(engine, guard)


@contextmanager
def as_usage_errors() -> Iterator[None]:
    """Turn database errors into errors that the user can act on.

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


def storable_text(given: str) -> str:
    """Return a text that every database can store: PostgreSQL rejects NUL, and none takes lone surrogates."""
    return given.replace("\0", "␀").encode("utf-8", "backslashreplace").decode()


def _store_run(connection: Connection, date: str, examined: ExaminedRun, report: str | None) -> None:
    place = storable_text(examined.task.place)
    ours = RUNS.c.place == place
    if examined.outcome == "same":
        stamp = {"stamp": examined.task.stamp, "tries": 0}
        connection.execute(update(RUNS).where(ours, RUNS.c.latest).values(**stamp))
        return
    tries = _tries(connection, examined, place)
    connection.execute(update(RUNS).where(ours, RUNS.c.latest).values(latest=False))
    connection.execute(RUNS.delete().where(ours, RUNS.c.night == date))
    values = _run_values(examined) | {"place": place, "night": date, "tries": tries, "report": report}
    (run,) = connection.execute(insert(RUNS).values(values)).inserted_primary_key or (0,)
    if hosts := examined.summary.hosts if examined.summary else ():
        connection.execute(insert(HOSTS), [_host(run, each) for each in hosts])


def _run_values(examined: ExaminedRun) -> dict[str, Any]:
    task, summary = examined.task, examined.summary
    values: dict[str, Any] = {
        "latest": True,
        "told": False,
        "stamp": task.stamp,
        "content": examined.content,
        "problem": storable_text(examined.problem),
        "name": storable_text(summary.name if summary else task.place.rstrip("/").rpartition("/")[2]),
    }
    if summary:
        values |= {
            "verdict": summary.verdict,
            "cause": storable_text(summary.cause or "") or None,
            "rule": storable_text(summary.rule or "") or None,
            "confidence": summary.confidence,
            "summary": storable_text(summary.summary),
            "fingerprint": summary.fingerprint,
            "culprits": storable_text(json.dumps(summary.culprits)),
            "owner": summary.owner,
            "job": storable_text(job_of(task.place) or "") or None,
            "started": summary.started,
            "ended": summary.ended,
        }
    return values


def _host(run: int, host: Host) -> dict[str, Any]:
    return {"run": run, "host": storable_text(host.name), "workers": host.workers, "culprits": host.culprits}


def _tries(connection: Connection, examined: ExaminedRun, place: str) -> int:
    if not examined.transient:
        return 0
    before = select(func.max(RUNS.c.tries)).where(
        RUNS.c.place == place, RUNS.c.latest, RUNS.c.stamp == examined.task.stamp
    )
    return int(connection.execute(before).scalar() or 0) + 1


def _upgrade(connection: Connection) -> None:
    """Create the tables, or upgrade old ones to this version, in one transaction."""
    if not inspect(connection).has_table(ABOUT.name):
        _META.create_all(connection)
        connection.execute(insert(ABOUT).values(version=VERSION))
        return
    version = connection.execute(select(ABOUT.c.version)).scalar_one()
    if version > VERSION:
        raise UsageError(f"the history is of version {version}, and this program knows {VERSION} at most")
    for statements in UPGRADES[version - 1 :]:
        for statement in statements:
            connection.execute(text(statement))
    if version < VERSION:
        connection.execute(update(ABOUT).values(version=VERSION))


def _acquire_lock(engine: Engine) -> Connection | None:
    """Return a connection that holds an advisory lock (PostgreSQL only): directories may share a history."""
    if engine.dialect.name != "postgresql":
        return None
    connection = engine.connect()
    if not connection.execute(select(func.pg_try_advisory_lock(_ADVISORY_LOCK))).scalar():
        connection.close()
        raise UsageError("--history: another mwms-triage is writing to it")
    connection.commit()
    return connection


def _configure_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    """Let SQLAlchemy control transactions, so that they include changes of tables."""
    connection.isolation_level = None
    connection.execute("PRAGMA foreign_keys = ON")


def _begin_at_once(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _url_without_password(url: str) -> str:
    try:
        return make_url(url).render_as_string(hide_password=True)
    except ArgumentError:
        return url.partition("://")[0]


def _error_text(error: Exception) -> str:
    inner = error.orig if isinstance(error, DBAPIError) and error.orig else error
    return " ".join(str(inner).split())[:300]
