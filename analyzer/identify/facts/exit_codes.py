"""Assigns what is stated of the end of a name, such as a host, to the worker whose log has this name."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

import polars as pl

from analyzer.identify.statements import NamedSource
from analyzer.model.task_names import log_of, role_in, split_task
from analyzer.tables.grouping import only_values

_NAMED = r"^(exit_code|out_of_memory):"
"""Regex for the start of the key of a statement about a name that may be that of a log."""
_OF_JOB = "job="
"""What precedes the names of a job of a scheduler."""
_ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{12,64}(?![0-9a-f])|\d{4,}(?:[._]\d{1,5})?(?!\d)")
"""Regex for the id of a job, of a task in an array of jobs, or of a container in a log's name."""
_STREAM = re.compile(r"[-_.](?:std)?(?:out|err(?:or)?)(?:---supervisor-\w+|-\d+)?$")
"""Regex for what supervisors put behind a program's name in that of its log, as in `floe-2-error`."""


_ID_OF_SWARM = re.compile(r"(?<=\.\d)(?P<more>\d{0,4})\.(?=[a-z]*\d)[a-z0-9]{6,25}$")
"""Regex for the id that Docker Swarm puts behind the name of a task, as in `ml_worker.2.k3v1a0b9c8d7`."""


def with_named_exit_codes(facts: pl.DataFrame, sources: Sequence[NamedSource]) -> pl.DataFrame:
    """Return the facts with each `exit_code:NAME` as the `exit_code` of a worker, and `out_of_memory` alike.

    That is the only worker with a log whose file, directory or stream has the name, else the worker that the
    fact already has, else the only task of the role that the name states. Without any, the fact is left out.
    The exit code of a job counts only if others are of other workers: it may be that of a launcher.
    """
    named = pl.col("key").str.contains(_NAMED)
    if not facts.select(named.any()).item():
        return facts
    others, stated = facts.filter(~named), facts.filter(named)
    name = pl.col("key").str.replace(_NAMED, "")
    logs = [(source.name, source.worker) for source in sources if source.is_log and source.worker]
    alone = only_values((name, task) for log, task in logs for name in _names(log))
    alone |= _jobs_of_workers(stated.select(name)["key"], alone)
    left = stated.filter(pl.col("worker").is_null() & ~name.is_in([*alone])).select(name)["key"]
    own, of_role = (
        name.replace_strict(found, default=None, return_dtype=pl.String)
        for found in (alone, _only_ones({*left}, {task for _, task in logs}))
    )
    given = stated.with_columns(
        worker=pl.coalesce(own, "worker", of_role), key=pl.col("key").str.extract(_NAMED)
    )
    kept = given.filter(pl.col("worker").is_not_null()).unique(maintain_order=True)
    return pl.concat([others, kept])


def _jobs_of_workers(names: Iterable[str], logs: Mapping[str, str]) -> dict[str, str]:
    """Return name → worker of the jobs that a log is named after, if these are of two or more workers."""
    jobs = {name: name.removeprefix(_OF_JOB) for name in names if name.startswith(_OF_JOB)}
    found = {name: logs[job] for name, job in jobs.items() if job in logs}
    return found if len({*found.values()}) > 1 else {}


def _only_ones(names: Iterable[str], tasks: Iterable[str]) -> dict[str, str]:
    """Return name → task where the name states a role that no other name states, and one task alone has."""
    stated = only_values((role, name) for name in names if (role := role_in(name)))
    having = only_values((split_task(task)[0], task) for task in tasks)
    return {name: having[role] for role, name in stated.items() if role in having}


def _names(source: str) -> list[str]:
    """Return the names in a log's path: directories, the file without and with suffixes, ids, the stream."""
    file, _, stream = source.partition("#")
    path = PurePosixPath(log_of(file))
    ids = _ID.findall(f"{path.name}#{stream}")
    program = _STREAM.sub("", path.stem)
    task = _ID_OF_SWARM.sub(r"\g<more>", path.stem)
    return [*path.parts[:-1], path.stem, path.name, program, task, *ids, *filter(None, [stream])]
