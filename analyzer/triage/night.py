"""One call, in order: find, examine, record, tell. After a kill at any moment, the next call goes on."""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from analyzer.model.errors import NothingReadable, UsageError
from analyzer.triage.history import History, open_history, told_failures
from analyzer.triage.lock import locked
from analyzer.triage.outputs import put, remove, report_of, sweep
from analyzer.triage.run_discovery import Unlisted, find, holder
from analyzer.triage.run_task import Examined, Task
from analyzer.triage.storage import is_url

T = TypeVar("T")
_BATCH = 200
"""Runs that history is asked about at once."""
_PAUSE = 0.5
"""Seconds of work that a kill may cost: so often is kept what was found out."""


class Order(NamedTuple):
    """What a call is asked to do; times are in seconds, `now` and `since` since the epoch."""

    roots: Sequence[str]
    folder: Path
    history: str
    now: float
    since: float = 0.0
    limit: int | None = None
    settle: float = 600.0
    """A run of which a file was written so lately may be going on; a time far ahead is a wrong clock."""
    keep: float = 90 * 86_400.0
    """How long reports are kept."""
    pattern: str | None = None
    rules: tuple[str, ...] = ()
    digest: str = ""
    """Of all rules."""


class Engine(Protocol):
    """Who examines: the processes of this machine, or a cluster."""

    def examined(self, tasks: Iterable[Task]) -> Iterator[Examined]:
        """What became of each task, in any order."""


class Tally:
    """What a call came across."""

    def __init__(self) -> None:
        self.found = self.waiting = self.left = self.examined = 0
        self.unlisted: list[Unlisted] = []


class Night(NamedTuple):
    """What a call did: runs found, examined now, still being written, and left because of `--limit`."""

    date: str
    found: int
    examined: int
    waiting: int
    left: int
    unlisted: tuple[Unlisted, ...]
    untold: tuple[tuple[str | None, str], ...]
    """Verdict and problem of each run that no exit status has spoken of yet."""


def triage(order: Order, engine: Engine) -> Night:
    """Look at every run that is new or changed, and bring history and outputs to this night.

    Raises:
        NothingReadable: none of the roots can be listed, or there is no run below them.
        UsageError: the directory lies in a run, or another call is at work.

    """
    roots = _apart(order.roots)
    for root in roots:
        _keep_out(order.folder, root)
    date, tally = datetime.fromtimestamp(order.now, UTC).date().isoformat(), Tally()
    with locked(order.folder), open_history(order.history) as history, told_failures():
        sweep(order.folder)
        history.begin(date, order.now)
        for batch in _by_time(engine.examined(_tasks(order, roots, history, tally)), _PAUSE):
            kept = [(each, _report(order.folder, each)) for each in batch if each.outcome != "written"]
            tally.waiting += len(batch) - len(kept)
            history.record(date, kept)
        _retire(order, history)
        _tell(order.folder, history, date, tally)
        untold = tuple(history.untold())
        history.end(date, order.now, tally.found, tally.waiting, tally.unlisted)
    if not tally.found:
        why = "; ".join(f"{each.place}: {each.reason}" for each in tally.unlisted[:3])
        raise NothingReadable(why or f"{', '.join(order.roots)}: there is no run below it")
    return Night(date, tally.found, tally.examined, tally.waiting, tally.left, tuple(tally.unlisted), untold)


def _tasks(order: Order, roots: Sequence[str], history: History, tally: Tally) -> Iterator[Task]:
    """The runs that are new or changed and at rest."""
    out = os.path.realpath(order.folder)
    every = (
        each
        for root in roots
        for each in find(root, order.now, tally.unlisted.append, order.pattern, leave_out=out)
    )
    for batch in _batches(every, _BATCH):
        tally.found += len(batch)
        known = history.known([each.place for each in batch])
        for each in batch:
            before = known.get(each.place)
            if (before and before.stands(each.stamp)) or order.now - each.age < order.since:
                continue
            if each.age < order.settle:
                tally.waiting += 1
            elif order.limit is not None and tally.examined >= order.limit:
                tally.left += 1
            else:
                tally.examined += 1
                content = before.content if before and not before.tries else ""
                yield Task(each.place, each.path, each.stamp, content, order.rules, order.digest)


def _report(folder: Path, examined: Examined) -> str | None:
    """Write the report, before history names it, and give its name."""
    if not examined.told:
        return None
    report = report_of(examined.told.name, examined.task.place)
    put(folder / report, zlib.decompress(examined.report))
    return report


def _by_time(items: Iterable[T], pause: float) -> Iterator[list[T]]:
    """Items as they come, a batch at most so often: a transaction costs more than a run's row."""
    batch: list[T] = []
    last = time.monotonic()
    for item in items:
        batch.append(item)
        if time.monotonic() - last >= pause:
            yield batch
            batch, last = [], time.monotonic()
    if batch:
        yield batch


def _retire(order: Order, history: History) -> None:
    """Reports that are older than they are kept, and those of places that were examined again since."""
    last = datetime.fromtimestamp(order.now - order.keep, UTC).date().isoformat()
    remove(order.folder, history.retired(last))
    history.forget_reports(last)


def _tell(folder: Path, history: History, date: str, tally: Tally) -> None:
    """Write what is made of history; the page last, for the others are beside it."""
    from analyzer.triage import digest, lines, metrics, night_summary, page

    told = night_summary.standing(history, date, tally.found, tally.waiting, tally.unlisted)
    runs = night_summary.tonight(history, date)
    put(folder / "runs.jsonl", lines.lines(runs, told).encode())
    put(folder / "digest.md", digest.digest(told).encode())
    put(folder / "metrics.prom", metrics.metrics(told))
    put(folder / "index.html", page.page(told).encode())


def _keep_out(folder: Path, root: str) -> None:
    if not is_url(root) and (run := holder(str(folder), root)):
        raise UsageError(f"-o {folder}: lies inside the run {run}, and nothing is ever written there")


def _apart(roots: Sequence[str]) -> list[str]:
    """The roots, none of them twice or inside another."""
    whole = list(dict.fromkeys(root.rstrip("/") if is_url(root) else os.path.abspath(root) for root in roots))  # noqa: PTH100
    return [root for root in whole if not any(root.startswith(f"{other.rstrip('/')}/") for other in whole)]


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
