"""Assigns the problems of nodes to the workers that ran on them."""

from collections.abc import Iterable, Mapping

import polars as pl

from analyzer.identify.claims import stated_clusters, task_addresses
from analyzer.identify.statements import Statements

_PROBLEM = pl.col("key") == "node_problem"
_SHORT_NAME = r"^(\d+(?:\.\d+){3}|[^\s.:]+)"
"""Regex for a node's name without its domain, or its IPv4 address."""


def with_workers_on_nodes(facts: pl.DataFrame, stated: Statements) -> pl.DataFrame:
    """Return the facts with each `node_problem` assigned to the workers on that node, a row for each.

    A problem of a node on which no worker is known to have run keeps its row without a worker.
    """
    problems = facts.filter(_PROBLEM)
    if problems.is_empty():
        return facts
    known = facts.filter((pl.col("key") == "host") & pl.col("worker").is_not_null())
    hosts = known.select("worker", "value").rows()
    hosts += _stated_hosts(stated, exclude={worker for worker, _ in hosts}).items()
    places = pl.DataFrame(hosts, schema={"on_it": pl.String, "name": pl.String}, orient="row")
    places = places.select("on_it", node=_short_name("name")).unique(maintain_order=True)
    assigned = problems.with_columns(node=_short_name("value")).join(places, on="node", how="left")
    assigned = assigned.with_columns(worker="on_it")  # not the one whose log reports it
    return pl.concat([facts.filter(~_PROBLEM), assigned.select(facts.columns)])


def _short_name(column: str) -> pl.Expr:
    return pl.col(column).str.to_lowercase().str.extract(_SHORT_NAME)


def _stated_hosts(stated: Statements, exclude: Iterable[str]) -> Mapping[str, str]:
    """Return worker → host of its address, where all cluster specifications agree on it."""
    specs = [task_addresses(cluster) for cluster in stated_clusters(stated)]
    every = {task: {spec[task] for spec in specs if task in spec} for spec in specs for task in spec}
    return {
        task: addresses.pop()
        for task, addresses in every.items()
        if len(addresses) == 1 and task not in set(exclude)
    }
