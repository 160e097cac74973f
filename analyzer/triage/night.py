"""Runs one call of mwms-triage: finds and examines runs, records results, writes outputs."""

import os
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from analyzer.engine import RulePack
from analyzer.model.errors import NothingReadable, UsageError
from analyzer.pipeline import load_rules
from analyzer.triage import night_summary
from analyzer.triage.database.history import History, as_usage_errors, open_history
from analyzer.triage.examine.run_discovery import UnlistedDirectory, enclosing_run, find_runs
from analyzer.triage.examine.run_task import ExaminedRun, Task
from analyzer.triage.examine.storage import is_url
from analyzer.triage.publish import digest, lines, metrics, page
from analyzer.triage.publish.output_files import (
    directory_lock,
    remove_drafts,
    remove_reports,
    report_path,
    write_output,
)

T = TypeVar("T")
_QUERY_SIZE = 200
"""Maximum number of runs per query of the history."""
_COMMIT_SECONDS = 0.5
"""Commit interval in seconds: a kill loses at most this much work."""


class TriageOptions(NamedTuple):
    """Options of a call; times are in seconds; `now` and `since` count from the epoch."""

    roots: Sequence[str]
    folder: Path
    history: str
    now: float
    since: float = 0.0
    limit: int | None = None
    settle: float = 600.0
    """Seconds since the last write until which a run is skipped, because it may still be running."""
    keep: float = 90 * 86_400.0
    """Seconds for which reports are kept."""
    pattern: str | None = None
    rules: tuple[str, ...] = ()
    digest: str = ""
    """Digest of all rules, by which worker processes recognize changed rules."""


class RunExaminer(Protocol):
    """Interface for examining many runs, in local processes or on a Dask cluster."""

    def examined(self, tasks: Iterable[Task]) -> Iterator[ExaminedRun]:
        """Yield the result of each task, in any order."""


@dataclass
class TriageResult:
    """Result of a call, updated during the call.

    It counts runs found, examined, still being written (`waiting`) and postponed by `--limit` (`left`).
    `unreported` has verdict and problem of each run that no earlier exit status has reported.
    """

    date: str
    found: int = 0
    examined: int = 0
    waiting: int = 0
    left: int = 0
    unlisted: list[UnlistedDirectory] = field(default_factory=list)
    unreported: list[tuple[str | None, str]] = field(default_factory=list)


def triage(order: TriageOptions, engine: RunExaminer) -> TriageResult:
    """Examine every new or changed run, update history and outputs, and return the result.

    Raises:
        NothingReadable: no root can be listed, or there is no run below the roots.
        UsageError: the output directory lies inside a run, or another call uses it.

    """
    roots = _distinct_roots(order.roots)
    for root in roots:
        _check_output_folder(order.folder, root)
    date = datetime.fromtimestamp(order.now, UTC).date().isoformat()
    result, pack = TriageResult(date), load_rules([Path(each) for each in order.rules])
    with directory_lock(order.folder), open_history(order.history) as history, as_usage_errors():
        remove_drafts(order.folder)
        history.begin(date, order.now)
        for batch in _batches_by_time(
            engine.examined(_tasks(order, roots, history, result)), _COMMIT_SECONDS
        ):
            kept = [(each, _write_report(order.folder, each)) for each in batch if each.outcome != "written"]
            result.waiting += len(batch) - len(kept)
            history.record(date, kept)
        _remove_expired_reports(order, history)
        _write_outputs(order.folder, history, date, result, pack)
        result.unreported = history.unreported()
        history.end(date, order.now, result.found, result.waiting, result.unlisted)
    if not result.found:
        why = "; ".join(f"{each.place}: {each.reason}" for each in result.unlisted[:3])
        raise NothingReadable(why or f"{', '.join(order.roots)}: there is no run below it")
    return result


def _tasks(
    order: TriageOptions, roots: Sequence[str], history: History, result: TriageResult
) -> Iterator[Task]:
    """Yield a task for each run to examine: new or changed, complete, and within `--limit`."""
    out = os.path.realpath(order.folder)
    every = (
        (root, each)
        for root in roots
        for each in find_runs(root, order.now, result.unlisted.append, order.pattern, leave_out=out)
    )
    for batch in _batches(every, _QUERY_SIZE):
        result.found += len(batch)
        known = history.known([each.place for _, each in batch])
        for root, each in batch:
            before = known.get(each.place)
            if (before and before.is_current(each.stamp)) or order.now - each.age < order.since:
                continue
            if each.age < order.settle:
                result.waiting += 1
            elif order.limit is not None and result.examined >= order.limit:
                result.left += 1
            else:
                result.examined += 1
                content = before.content if before and not before.tries else ""
                yield Task(each.place, each.path, each.stamp, content, order.rules, order.digest, root)


def _write_report(folder: Path, examined: ExaminedRun) -> str | None:
    """Write the report of a run and return its path relative to `folder`; None without a diagnosis."""
    if not examined.summary:
        return None
    report = report_path(examined.summary.name, examined.task.place)
    write_output(folder / report, zlib.decompress(examined.report))
    return report


def _batches_by_time(items: Iterable[T], pause: float) -> Iterator[list[T]]:
    """Yield the items in batches, at most one batch per `pause` seconds, to save transactions."""
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
    """Remove reports whose run was last examined more than `keep` seconds ago."""
    last = datetime.fromtimestamp(order.now - order.keep, UTC).date().isoformat()
    remove_reports(order.folder, history.expired_reports(last))
    history.forget_reports(last)


def _write_outputs(folder: Path, history: History, date: str, result: TriageResult, pack: RulePack) -> None:
    """Write the outputs of the night; the index page last, because it links to the others."""
    summary = night_summary.summarize_night(
        history, date, result.found, result.waiting, result.unlisted, pack
    )
    runs = night_summary.runs_of_night(history, date)
    write_output(folder / "runs.jsonl", lines.lines(runs, summary).encode())
    write_output(folder / "digest.md", digest.digest(summary).encode())
    write_output(folder / "metrics.prom", metrics.metrics(summary))
    write_output(folder / "index.html", page.page(summary).encode())


def _check_output_folder(folder: Path, root: str) -> None:
    if not is_url(root) and (run := enclosing_run(str(folder), root)):
        raise UsageError(f"-o {folder}: lies inside the run {run}, and nothing is ever written there")


def _distinct_roots(roots: Sequence[str]) -> list[str]:
    """Return the roots without duplicates and without those inside another one."""
    whole = list(dict.fromkeys(root.rstrip("/") if is_url(root) else os.path.abspath(root) for root in roots))  # noqa: PTH100
    return [root for root in whole if not any(root.startswith(f"{other.rstrip('/')}/") for other in whole)]


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
