"""Finds restarts that went on with the weights of an older save, by the checksums of a worker's recorder."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import polars as pl

from analyzer.tables.builders import frame

Row = Mapping[str, Any]
Sums = Mapping[str, str]
"""Name of a variable → checksum."""


class Save(NamedTuple):
    """Checksums of the weights that were saved, and the steps that had ended in the attempt."""

    steps: int
    sums: Sums


def restores(checksums: pl.DataFrame, training: pl.DataFrame) -> pl.DataFrame:
    """Return one row per worker and attempt whose first weights are those of an earlier attempt's save."""
    if "saved_weights" not in checksums["kind"]:
        return frame("restores", ())
    known = checksums.filter(pl.col("kind").is_in(["weights", "saved_weights"])).drop_nulls("worker")
    logged = _logged_steps(training)
    workers = known.sort("attempt", "line").partition_by("worker", maintain_order=True)
    return frame("restores", (row for own in workers for row in _of_worker(own.to_dicts(), logged)))


def _logged_steps(training: pl.DataFrame) -> Mapping[tuple[str, int], list[int]]:
    """Return (worker, attempt) → the steps that it logged, counted since the start of training."""
    per_epoch = (pl.col("epoch") - 1) * pl.col("steps") + pl.col("step")
    of_fit = (pl.col("origin") == "fit") & pl.col("epoch").is_not_null()
    done = pl.when(of_fit).then(per_epoch).when(pl.col("epoch").is_null()).then(pl.col("step"))
    logs = training.filter(pl.col("origin").is_in(["fit", "loop", "estimator"]))
    numbered = logs.select("worker", "attempt", done=done).drop_nulls()
    steps = numbered.unique(maintain_order=True).group_by("worker", "attempt").agg("done")
    return {(worker, attempt): done for worker, attempt, done in steps.iter_rows()}


def _of_worker(
    rows: Sequence[Row], logged: Mapping[tuple[str, int], Sequence[int]]
) -> Iterator[dict[str, Any]]:
    first: dict[int, list[Row]] = defaultdict(list)
    saved: dict[int, dict[int, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row["kind"] == "saved_weights":
            saved[row["attempt"]][row["line"]].append(row)
        elif row["step"] == 0:
            first[row["attempt"]].append(row)
    for attempt, begun in first.items():
        before = max((each for each in saved if each < attempt), default=None)
        if before is not None:
            saves = [Save(each[0]["step"], _sums(each)) for each in saved[before].values()]
            worker = begun[0]["worker"]
            steps, again = (logged.get((worker, each), ()) for each in (before, attempt))
            yield from _compared(begun, saves, steps, again)


def _compared(
    begun: Sequence[Row], saves: Sequence[Save], steps: Sequence[int], again: Sequence[int]
) -> Iterator[dict[str, Any]]:
    """Yield a row if the weights that an attempt began with are those of a save.

    `steps` and `again` are the logged steps of the attempt that saved and of the one that began.
    """
    sums = _sums(begun)
    same = [number for number, save in enumerate(saves, 1) if sums.items() <= save.sums.items()]
    if not same:
        return
    shown = begun[0]
    yield {
        **{key: shown[key] for key in ("worker", "attempt", "source", "line", "time")},
        "saves": len(saves), "save": same[-1], "save_steps": saves[same[-1] - 1].steps,
        "resumed_step": again[0] if again else None,
        "passed": _passed(saves, same[-1], steps, again[0]) if steps and again else None,
    }  # fmt: skip


def _passed(saves: Sequence[Save], number: int, steps: Sequence[int], resumed: int) -> int:
    """Return how many saves after save `number` were certainly made before the step at which the job resumed.

    Recorders count calls; logs count steps, and may skip some. So the step of a save is estimated high, and
    the step `resumed` low.
    """
    calls = saves[-1].steps
    gap = max((later - earlier for earlier, later in pairwise(steps)), default=1)
    ratio = max(1.0, (steps[-1] - steps[0] + 1) / calls) if calls else 1.0
    return sum(steps[0] - 1 + save.steps * ratio <= resumed - max(1, gap) for save in saves[number:])


def _sums(rows: Sequence[Row]) -> Sums:
    return {row["name"]: row["digest"] for row in rows}
