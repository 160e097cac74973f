"""Sets aside events of pods that are not the job's: a list of a namespace's events has those of all pods."""

import re
from pathlib import PurePosixPath

import polars as pl

from analyzer.model.run import Tables
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import worker_of

_ORDINAL = re.compile(r"-\d{1,5}$")
"""Regex for the number of a pod of a StatefulSet, whose name has no other sign of a task."""


def without_pods_of_other_workloads(read: Tables) -> Tables:
    """Return the tables without the Kubernetes events of pods that do not belong to the job.

    Nothing but its number makes `metrics-0` look like worker 0. It belongs to another workload if the run's
    logs are named after tasks, as `train-worker-0.log`, and no log has `metrics` in its name.
    """
    lists = read["sources"].filter(kind="pods")["source"]
    events = read["facts"].filter((pl.col("key") == "pod_event") & pl.col("source").is_in(lists.implode()))
    named = events.filter(pl.col("excerpt").is_not_null()).iter_rows(named=True)
    bare = [row for row in named if worker_of(row["excerpt"], Kind.PODS) is None]
    logs = [str(name) for name in read["sources"].filter(kind="log")["source"]] if bare else []
    if not logs or not any(worker_of(PurePosixPath(name).name, Kind.PODS) for name in logs):
        return read
    foreign = [
        {"source": row["source"], "line": row["line"]}
        for row in bare
        if not any(_ORDINAL.sub("", row["excerpt"]) in name for name in logs)
    ]
    if not foreign:
        return read
    of_others = pl.struct("source", "line").is_in(foreign)
    return {
        **read,
        **{name: read[name].filter(~of_others.fill_null(value=False)) for name in ("facts", "matches")},
    }
