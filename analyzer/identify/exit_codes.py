"""Assigns an exit code stated for a name, such as a host, to the worker whose log has this name."""

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

import polars as pl

from analyzer.identify.statements import NamedSource
from analyzer.model.task_names import log_of, role_in, split_task
from analyzer.tables.grouping import only_values

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
    logs = [(source.name, source.worker) for source in sources if source.is_log and source.worker]
    alone = only_values((_NAMED + name, task) for log, task in logs for name in _names(log))
    tasks = {task for _, task in logs}
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
    stated = only_values((role, key) for key in keys if (role := role_in(key.removeprefix(_NAMED))))
    having = only_values((split_task(task)[0], task) for task in tasks)
    return {key: having[role] for role, key in stated.items() if role in having}


def _names(source: str) -> list[str]:
    """Return the names in a log's path: directories, the file without suffixes, the stream."""
    file, _, stream = source.partition("#")
    path = PurePosixPath(log_of(file))
    return [*path.parts[:-1], path.stem, *filter(None, [stream])]
