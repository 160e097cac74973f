"""The workers of a run as rules see them, and which of them a rule blames."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from analyzer.engine.rule_types import Rule
from analyzer.engine.select import Row
from analyzer.model.findings import Verdict
from analyzer.model.run import Tables

_OF_ALL = ("api.", "checkpoint.", "data.", "env.", "numeric.", "storage.", "user.")
"""Prefixes of causes that can affect all workers alike: code, data, storage, environment."""
_OF_ALL_THAT_END_ALIKE = ("peer.crashed", "resource.gpu_oom")
"""Causes that can affect all workers of the same exit code, such as a GPU that several of them use."""

_OF_AN_END = ("worker", "seen", "ended", "exit_code", "no_exception")


class Roster(NamedTuple):
    """The workers of the run and how they ended, for binding signals to workers."""

    everyone: tuple[str, ...]
    training: Mapping[str, None]
    """The training workers in order, as keys: each is looked up often."""
    leader: str
    """The task that leads the cluster: `chief:0` or `worker:0`; empty if unknown."""
    endings: Mapping[str, Row]
    """Worker → what its row of `lifetimes` says of its end."""
    life: Callable[[str], Row]
    """Function: worker → its row of `lifetimes`, empty if it has none; all rows would take much memory."""
    job: Callable[[], Row]
    """Function that returns the row of `job`, which only a rule that fires needs."""
    mixed: bool = False
    """Whether a log mixes lines of several workers without naming them."""


def roster_of(tables: Tables) -> Roster:
    """Return the workers of the run, from its tables."""
    workers, lives = tables["workers"], tables["lifetimes"]
    numbers = {worker: number for number, worker in enumerate(lives["worker"])}
    leader = workers.filter("leader")["worker"].to_list()
    return Roster(
        everyone=tuple(workers["worker"].to_list()),
        training=dict.fromkeys(workers.filter("trains")["worker"].to_list()),
        leader=leader[0] if leader else "",
        endings={row["worker"]: row for row in lives.select(_OF_AN_END).iter_rows(named=True)},
        life=lambda worker: lives.row(numbers[worker], named=True) if worker in numbers else {},
        job=lambda: tables["job"].row(0, named=True),
        mixed="several_workers" in tables["facts"]["key"],
    )


def blamed(rule: Rule, workers: tuple[str, ...], roster: Roster) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return (culprits, suspects); with `blame: subject`, none if the rule holds for all training workers.

    Workers without files, and those whose files do not show how they ended, do not count for that. If only
    one worker shows its end, and the cause may have affected the others too, it is a suspect.
    """
    seen = {worker for worker in roster.training if _shows_its_end(roster.endings.get(worker, {}))}
    seen |= {*workers} if _another_exited_alike(workers, roster) else set()
    with_files = {worker for worker in roster.training if roster.endings.get(worker, {}).get("seen")}
    alike = any(len(each) > 1 and each <= {*workers} for each in (seen, with_files))
    may_share = (rule.cause or "").startswith(_OF_ALL) and _absent_may_share(rule, roster, seen)
    may_share |= rule.cause in _OF_ALL_THAT_END_ALIKE and _absent_ended_alike(roster, seen)
    alone = seen == set(workers) and may_share
    if rule.blame == "suspects" or (rule.blame == "subject" and alone and not alike):
        return (), workers
    return (workers, ()) if rule.blame == "subject" and not alike else ((), ())


def _another_exited_alike(workers: tuple[str, ...], roster: Roster) -> bool:
    """Return True if another training worker exited with the error code of one of these, and says no more."""
    codes = {roster.endings.get(worker, {}).get("exit_code") for worker in workers}
    others = [roster.endings.get(worker, {}) for worker in roster.training if worker not in workers]
    return any(not _shows_its_end(life) and life.get("exit_code") in codes - {None} for life in others)


def _shows_its_end(life: Row) -> bool:
    """Return False if a worker left no file, or exited with an error code but logged no exception."""
    silent = life.get("ended") == "exited" and life.get("no_exception") and (life.get("exit_code") or 0) > 0
    return bool(life.get("seen", True)) and not silent


def _absent_may_share(rule: Rule, roster: Roster, seen: set[str]) -> bool:
    """Return True if the exit code of a worker without files allows that it failed in the same way."""
    absent = [worker for worker in roster.training if worker not in seen]
    codes = [roster.endings.get(worker, {}).get("exit_code") for worker in absent]
    least = 0 if rule.verdict is Verdict.DEGRADED else 1
    return any(code is None or code >= least for code in codes)


def _absent_ended_alike(roster: Roster, seen: set[str]) -> bool:
    """Return True if the same signal (by exit code) ended a worker without files and one with files."""
    codes = {worker: roster.endings.get(worker, {}).get("exit_code") or 0 for worker in roster.training}
    ended = {codes[worker] for worker in seen if codes[worker] < 0}
    return any(code in ended for worker, code in codes.items() if worker not in seen)
