"""Corrects the numbers of launchers that count workers from 1, where TensorFlow counts from 0."""

from collections.abc import Sequence

import polars as pl

from analyzer.identify.claims import stated_clusters, task_addresses
from analyzer.identify.statements import NamedSource, Statements

_ENDS = ("exit_code", "failed_first", "given_up", "out_of_memory")
"""Keys of facts that launchers state of their workers."""


def with_tasks_of_launchers(
    facts: pl.DataFrame, sources: Sequence[NamedSource], stated: Statements
) -> pl.DataFrame:
    """Return the facts, with one taken off the numbers in a launcher's file that cannot be indices.

    They cannot if one is the number of workers in the cluster, which no log is of, and none is 0.
    """
    listed = {task for cluster in stated_clusters(stated) for task in task_addresses(cluster)}
    tasks = [f"worker:{index}" for index in range(len(listed) + 1)]
    beyond, shifted = tasks[-1], dict(zip(tasks[1:], tasks, strict=False))
    if {*tasks[:-1]} != listed or len(listed) < 2 or any(source.worker == beyond for source in sources):
        return facts
    of_launchers = [source.name for source in sources if source.worker is None]
    ends = pl.col("key").is_in(_ENDS) & pl.col("source").is_in(of_launchers)
    named = facts.filter(ends).drop_nulls("worker").group_by("source").agg(pl.col("worker").unique())
    counting = [source for source, own in named.iter_rows() if beyond in own and {*own} <= shifted.keys()]
    counted = pl.when(ends & pl.col("source").is_in(counting)).then(pl.col("worker").replace(shifted))
    return facts.with_columns(worker=counted.otherwise("worker"))
