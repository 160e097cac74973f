"""Takes the workers whose pods ran when they were listed for running, if the files were collected then."""

import polars as pl

from analyzer.tables.builders import joined


def with_pods_that_ran(facts: pl.DataFrame) -> pl.DataFrame:
    """Return the facts, with `exit_code` as `running` for workers whose pods ran and that state no end.

    Only `mwms-collect` writes when it listed the pods; any other list may be older than the end of the job.
    """
    if facts.filter(key="collected_at").is_empty():
        return facts
    ended = facts.filter(key="exit_code").select("worker", "attempt")
    listed = facts.filter(pl.col("worker").is_not_null(), key="pod_running")
    ran = listed.join(ended, on=["worker", "attempt"], how="anti", nulls_equal=True)
    if ran.is_empty():
        return facts
    return joined("facts", [facts, ran.with_columns(key=pl.lit("exit_code"), value=pl.lit("running"))])
