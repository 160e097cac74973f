"""Simple methods that name a culprit, to be compared with the analyzer on the same recordings.

For a fair comparison, they blame nobody in a job that all workers finished, they use aligned clocks, and an
exception counts as a worker's own only if TensorFlow does not report it as received from a peer.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from analyzer.model.run import Tables

CONSTANT = "always the same worker"


def answers(tables: Tables) -> dict[str, str | None]:
    """Return the worker that each baseline blames, by the baseline's name; None for nobody."""
    if tables["job"]["all_finished"][0]:
        return dict.fromkeys(BASELINES)
    return {name: blame(tables) for name, blame in BASELINES.items()}


def commonest(culprits: Iterable[Sequence[str]]) -> str | None:
    """Return the most frequent culprit, which is the best constant answer; None without culprits."""
    counts = Counter(each for several in culprits for each in several)
    return counts.most_common(1)[0][0] if counts else None


def _first_error(tables: Tables) -> str | None:
    grave = tables["records"].filter(pl.col("level").is_in(["E", "F"]) & pl.col("worker").is_not_null())
    shifts = tables["clocks"].filter(pl.col("kind") == "log").select("worker", "shift")
    aligned = grave.join(shifts, on="worker", how="left")
    return _first(aligned.with_columns(at=pl.col("near") - pl.col("shift").fill_null(0.0)), "at")


def _first_silent(tables: Tables) -> str | None:
    return _first(tables["lifetimes"].filter(pl.col("trains")), "last_seen")


def _first(rows: pl.DataFrame, time: str) -> str | None:
    dated = rows.filter(pl.col(time).is_not_null()).sort(time, maintain_order=True)
    return str(dated["worker"][0]) if dated.height else None


def _accused(tables: Tables) -> str | None:
    named = tables["accusations"].filter("counts").unique(["accuser", "worker"])["worker"].to_list()
    most = Counter(named).most_common(2)
    return None if not most or (len(most) == 2 and most[0][1] == most[1][1]) else str(most[0][0])


def _in_turn(tables: Tables) -> str | None:
    """Return the only worker with an own exception, else the only one without log, else the most accused."""
    lives = tables["lifetimes"].filter("trains")
    for blamed in (lives.filter("own_exception"), lives.filter(~pl.col("seen"))):
        if blamed.height == 1:
            return str(blamed["worker"][0])
    return _accused(tables)


BASELINES: Mapping[str, Callable[[Tables], str | None]] = {
    "first error": _first_error,
    "first to fall silent": _first_silent,
    "accused most": _accused,
    "own exception, else missing log, else accused most": _in_turn,
}
