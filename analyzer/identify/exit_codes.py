"""Assigns an exit code stated for a name, such as a host, to the worker whose log has this name."""

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

import polars as pl

from analyzer.identify.statements import NamedSource
from analyzer.model.task_names import log_of, role_in, split_task
from analyzer.tables.grouping import grouped

_NAMED = "exit_code:"
"""Start of the key of an exit code whose name may be that of a log."""


def with_named_exit_codes(facts: pl.DataFrame, sources: Sequence[NamedSource]) -> pl.DataFrame:
    """Return the facts with each `exit_code:NAME` as the `exit_code` of a worker.

    That is the only worker with a log whose file, directory or stream has the name, else the worker that the
    fact already has, else the only task of the role that the name states. Without any, the fact is left out.
    """
    named = pl.col("key").str.starts_with(_NAMED)
    if not facts.select(named.any()).item():
        return facts
    workers: dict[str, set[str]] = {}
    for source in sources:
        if source.is_log and source.worker:
            for name in _names(source.name):
                workers.setdefault(_NAMED + name, set()).add(source.worker)
    alone = {key: next(iter(tasks)) for key, tasks in workers.items() if len(tasks) == 1}
    tasks = {source.worker for source in sources if source.is_log and source.worker}
    left = facts.filter(named & pl.col("worker").is_null() & ~pl.col("key").is_in([*alone]))["key"]
    own, of_role = (
        pl.col("key").replace_strict(found, default=None, return_dtype=pl.String)
        for found in (alone, _only_ones(set(left), tasks))
    )
    given = facts.with_columns(
        worker=pl.when(named).then(pl.coalesce(own, "worker", of_role)).otherwise("worker"),
        key=pl.when(named).then(pl.lit("exit_code")).otherwise("key"),
    )
    return given.filter(~facts.select(named).to_series() | pl.col("worker").is_not_null())


def _only_ones(keys: Iterable[str], tasks: Iterable[str]) -> dict[str, str]:
    """Return key → task where the name states a role that no other name states, and one task alone has."""
    stated = grouped((role, key) for key in keys if (role := role_in(key.removeprefix(_NAMED))))
    having = grouped((split_task(task)[0], task) for task in tasks)
    return {
        found[0]: having[role][0]
        for role, found in stated.items()
        if len(found) == len(having.get(role, ())) == 1
    }


def _names(source: str) -> list[str]:
    """Return the names in a log's path: directories, the file without suffixes, the stream."""
    file, _, stream = source.partition("#")
    path = PurePosixPath(log_of(file))
    return [*path.parts[:-1], path.stem, *filter(None, [stream])]
