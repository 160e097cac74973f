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
from analyzer.triage.database.history import History, as_usage_errors, open_history
from analyzer.triage.examine.run_discovery import UnlistedDirectory, enclosing_run, find_runs
from analyzer.triage.examine.run_task import ExaminedRun, Task
from analyzer.triage.examine.storage import is_url
from analyzer.triage.lock import directory_lock
from analyzer.triage.publish.output_files import put, remove_drafts, remove_reports, report_path

T = TypeVar("T")
_QUERY_SIZE = 200
"""Runs that history is asked about at once."""
_COMMIT_SECONDS = 0.5
"""Seconds of work that a kill may cost: so often is kept what was found out."""


class TriageOptions(NamedTuple):
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


class RunExaminer(Protocol):
    """Who examines: the processes of this machine, or a cluster."""

    def examined(self, tasks: Iterable[Task]) -> Iterator[ExaminedRun]:
        """What became of each task, in any order."""


class DiscoveryCounts:
    """What a call came across."""

    def __init__(self) -> None:
        self.found = self.waiting = self.left = self.examined = 0
        self.unlisted: list[UnlistedDirectory] = []


class TriageResult(NamedTuple):
    """What a call did: runs found, examined now, still being written, and left because of `--limit`."""

    date: str
    found: int
    examined: int
    waiting: int
    left: int
    unlisted: tuple[UnlistedDirectory, ...]
    unreported: tuple[tuple[str | None, str], ...]
    """Verdict and problem of each run that no exit status has spoken of yet."""


def triage(order: TriageOptions, engine: RunExaminer) -> TriageResult:
    """Look at every run that is new or changed, and bring history and outputs to this night.

    Raises:
        NothingReadable: none of the roots can be listed, or there is no run below them.
        UsageError: the directory lies in a run, or another call is at work.

    """
    roots = _distinct_roots(order.roots)
    for root in roots:
        _check_output_folder(order.folder, root)
    date, counts = datetime.fromtimestamp(order.now, UTC).date().isoformat(), DiscoveryCounts()
    with directory_lock(order.folder), open_history(order.history) as history, as_usage_errors():
        remove_drafts(order.folder)
        history.begin(date, order.now)
        for batch in _batches_by_time(
            engine.examined(_tasks(order, roots, history, counts)), _COMMIT_SECONDS
        ):
            kept = [(each, _write_report(order.folder, each)) for each in batch if each.outcome != "written"]
            counts.waiting += len(batch) - len(kept)
            history.record(date, kept)
        _remove_expired_reports(order, history)
        _write_outputs(order.folder, history, date, counts)
        unreported = tuple(history.unreported())
        history.end(date, order.now, counts.found, counts.waiting, counts.unlisted)
    if not counts.found:
        why = "; ".join(f"{each.place}: {each.reason}" for each in counts.unlisted[:3])
        raise NothingReadable(why or f"{', '.join(order.roots)}: there is no run below it")
    return TriageResult(
        date, counts.found, counts.examined, counts.waiting, counts.left, tuple(counts.unlisted), unreported
    )


def _tasks(
    order: TriageOptions, roots: Sequence[str], history: History, counts: DiscoveryCounts
) -> Iterator[Task]:
    """The runs that are new or changed and at rest."""
    out = os.path.realpath(order.folder)
    every = (
        each
        for root in roots
        for each in find_runs(root, order.now, counts.unlisted.append, order.pattern, leave_out=out)
    )
    for batch in _batches(every, _QUERY_SIZE):
        counts.found += len(batch)
        known = history.known([each.place for each in batch])
        for each in batch:
            before = known.get(each.place)
            if (before and before.is_current(each.stamp)) or order.now - each.age < order.since:
                continue
            if each.age < order.settle:
                counts.waiting += 1
            elif order.limit is not None and counts.examined >= order.limit:
                counts.left += 1
            else:
                counts.examined += 1
                content = before.content if before and not before.tries else ""
                yield Task(each.place, each.path, each.stamp, content, order.rules, order.digest)


def _write_report(folder: Path, examined: ExaminedRun) -> str | None:
    """Write the report, before history names it, and give its name."""
    if not examined.summary:
        return None
    report = report_path(examined.summary.name, examined.task.place)
    put(folder / report, zlib.decompress(examined.report))
    return report


def _batches_by_time(items: Iterable[T], pause: float) -> Iterator[list[T]]:
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


def _remove_expired_reports(order: TriageOptions, history: History) -> None:
    """Reports that are older than they are kept, and those of places that were examined again since."""
    last = datetime.fromtimestamp(order.now - order.keep, UTC).date().isoformat()
    remove_reports(order.folder, history.expired_reports(last))
    history.forget_reports(last)


def _write_outputs(folder: Path, history: History, date: str, counts: DiscoveryCounts) -> None:
    """Write what is made of history; the page last, for the others are beside it."""
    from analyzer.triage import night_summary
    from analyzer.triage.publish import digest, lines, metrics, page

    summary = night_summary.summarize_night(history, date, counts.found, counts.waiting, counts.unlisted)
    runs = night_summary.runs_of_night(history, date)
    put(folder / "runs.jsonl", lines.lines(runs, summary).encode())
    put(folder / "digest.md", digest.digest(summary).encode())
    put(folder / "metrics.prom", metrics.metrics(summary))
    put(folder / "index.html", page.page(summary).encode())


def _check_output_folder(folder: Path, root: str) -> None:
    if not is_url(root) and (run := enclosing_run(str(folder), root)):
        raise UsageError(f"-o {folder}: lies inside the run {run}, and nothing is ever written there")


def _distinct_roots(roots: Sequence[str]) -> list[str]:
    """The roots, none of them twice or inside another."""
    whole = list(dict.fromkeys(root.rstrip("/") if is_url(root) else os.path.abspath(root) for root in roots))  # noqa: PTH100
    return [root for root in whole if not any(root.startswith(f"{other.rstrip('/')}/") for other in whole)]


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
