"""Reads from the history how often a failure was seen before, without writing to the database."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from analyzer.model import contract
from analyzer.triage.database.schema import ABOUT, HOSTS, RUNS, VERSION
from analyzer.triage.dates import date_of

_FAILED = sa.and_(RUNS.c.latest, RUNS.c.verdict.in_(("failed", "degraded", "inconclusive")))


def earlier_runs(url: str, document: Mapping[str, Any]) -> contract.EarlierRuns:
    """Return how often runs with the diagnosis's fingerprint failed, when, and how often on the same host.

    `url` is an SQLAlchemy URL. The diagnosed run itself does not count. If the history cannot be read, the
    result says why.
    """
    if "://" not in url:
        file = f"{url.rstrip('/')}/history.sqlite" if Path(url).is_dir() else url
        return {"skipped": f"{url} is not a database URL; for an SQLite file, write sqlite:///{file}"}
    try:
        engine = sa.create_engine(_read_only(url))
        with engine.connect().execution_options(postgresql_readonly=True) as connection:
            return _read(connection, document)
    except (SQLAlchemyError, ImportError) as error:
        return {"skipped": _reason(url, error)}


def _reason(url: str, error: Exception) -> str:
    """Return why a history cannot be read; of an SQLite file that is not there, its path."""
    with suppress(SQLAlchemyError):
        file = make_url(url).database
        if url.startswith("sqlite") and file and not Path(file).exists():
            return f"{file}: no such file"
    return " ".join(str(getattr(error, "orig", None) or error).split())[:200]


def _read_only(url: str) -> sa.URL:
    """Return the URL; that of an SQLite file opens it for reading only and does not create it."""
    given = make_url(url)
    if given.get_backend_name() != "sqlite" or not given.database:
        return given
    return given.set(database=f"file:{given.database}", query={"mode": "ro", "uri": "true"})


def _read(connection: sa.Connection, document: Mapping[str, Any]) -> contract.EarlierRuns:
    version = connection.execute(sa.select(ABOUT.c.version)).scalar_one()
    if version != VERSION:
        return {"skipped": f"it has version {version}, and this program reads version {VERSION}"}
    run = document["run"]
    itself = sa.and_(RUNS.c.name == run["name"], RUNS.c.ended.is_not_distinct_from(run["ended"]))
    alike = sa.and_(_FAILED, RUNS.c.fingerprint == document["fingerprint"], sa.not_(itself))
    rows = connection.execute(sa.select(RUNS.c.id, RUNS.c.ended, RUNS.c.night).where(alike)).all()
    dates = sorted(night if ended is None else date_of(ended) for _, ended, night in rows)
    hosts = [each["host"] for each in document["workers"] if each["id"] in document["culprits"]]
    own = HOSTS.c.host.in_([*filter(None, hosts)])
    on_host = sa.exists().where(HOSTS.c.run == RUNS.c.id, own, HOSTS.c.culprits > 0)
    return {
        "runs": len(rows),
        "of": connection.execute(sa.select(sa.func.count()).where(_FAILED)).scalar_one(),
        "first": dates[0] if dates else None,
        "last": dates[-1] if dates else None,
        "same_host": connection.execute(sa.select(sa.func.count()).where(alike, on_host)).scalar_one(),
    }
