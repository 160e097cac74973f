"""Tells whether all pods of a job were still running when Kubernetes listed them."""

import polars as pl

from analyzer.model.run import Tables


def pods_that_ran(tables: Tables) -> list[str]:
    """Return the training workers if the pod of each was listed as running and no file shows an end."""
    lives = tables["lifetimes"].filter("trains")
    workers: list[str] = lives["worker"].to_list()
    listed = set(tables["facts"].filter(pl.col("key") == "pod_running")["worker"].drop_nulls())
    unended = set(lives["ended"]) <= {"unknown"}
    return workers if unended and set(workers) <= listed else []
