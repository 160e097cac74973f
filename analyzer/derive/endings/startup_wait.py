"""Tells whether files show that workers waited for the cluster in vain, or only that they had begun to wait.

The logs of a job that is starting and those of one that hangs end with the same lines.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from analyzer.tables.collection_time import NO_TIME, CollectionTime

_LONG_SECONDS = 10.0
"""Minimum wait that no healthy start needs: all of 254 recorded clusters assembled within 1.5 s of the start
of their last server, and TensorFlow's sessions say after 10 s that they still wait."""
_TELLING = ("awaited_long", "given_up")
"""Facts that a worker waited long, and that a launcher gave it up."""


def waited(training: Sequence[Mapping[str, Any]], collected: CollectionTime = NO_TIME) -> float | None:
    """Return the seconds from the last start of a server to the last sign of life; None if undated.

    For a worker that started no server, its last line counts instead. If all workers with a log ran until
    the files were `collected`, the wait lasts until then, if it was long.
    """
    seen = [life["last_seen"] for life in training if life["last_seen"] is not None]
    begun = [life["last_seen"] if life["served"] is None else life["served"] for life in training]
    dated = [time for time in begun if time is not None]
    if not (dated and seen):
        return None
    runs = all(life["ended"] == "running" for life in training if life["logged"])
    silence = collected.silence(max(seen)) if runs else None
    return max(0.0, float(max(seen)) + (silence or 0.0) - float(max(dated)))


def wait_shown(
    training: Sequence[Mapping[str, Any]],
    facts: pl.DataFrame,
    accusations: pl.DataFrame,
    stalls: pl.DataFrame,
    *,
    seconds: float | None,
    stopped: bool,
) -> bool:
    """Return True if the wait of so many `seconds` is long, or something shows that it ended in failure.

    That is an exit code, an exception, SIGTERM, a scheduler that `stopped` the job, a failed call to a peer,
    or a recording that notes a stall.
    """
    if stopped or (seconds or 0.0) >= _LONG_SECONDS:
        return True
    if any(life["sigterm"] or life["exit_code"] is not None or _raised(life) for life in training):
        return True
    begun = {life["worker"]: life["served"] for life in training if life["restarted"]}
    since = pl.col("accuser").replace_strict(begun, default=None, return_dtype=pl.Float64)
    failed = accusations.filter(
        pl.col("counts") & (pl.col("kind") != "absent"), since.is_null() | (pl.col("time") >= since)
    )
    told = facts.filter(pl.col("key").is_in(_TELLING))
    return not (failed.is_empty() and told.is_empty() and stalls.filter(~pl.col("resumed")).is_empty())


def _raised(life: Mapping[str, Any]) -> bool:
    return bool(life["logged"]) and not life["no_exception"]
