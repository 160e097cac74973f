"""Assigns an exit code stated for a name, such as a host, to the worker whose log has this name."""

from collections.abc import Sequence
from pathlib import PurePosixPath

import polars as pl

from analyzer.identify.statements import NamedSource
from analyzer.model.task_names import log_of

_NAMED = "exit_code:"
"""Start of the key of an exit code whose name may be that of a log."""


def with_named_exit_codes(facts: pl.DataFrame, sources: Sequence[NamedSource]) -> pl.DataFrame:
    """Return the facts with each `exit_code:NAME` as the `exit_code` of a worker.

    That is the only worker with a log whose file, directory or stream has the name, else the worker that the
    fact already has. Without either, the fact is left out.
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
    own = pl.col("key").replace_strict(alone, default=None, return_dtype=pl.String)
    given = facts.with_columns(
        worker=pl.when(named).then(pl.coalesce(own, "worker")).otherwise("worker"),
        key=pl.when(named).then(pl.lit("exit_code")).otherwise("key"),
    )
    return given.filter(~facts.select(named).to_series() | pl.col("worker").is_not_null())


def _names(source: str) -> list[str]:
    """Return the names in a log's path: directories, the file without suffixes, the stream."""
    file, _, stream = source.partition("#")
    path = PurePosixPath(log_of(file))
    return [*path.parts[:-1], path.stem, *filter(None, [stream])]
