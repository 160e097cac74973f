"""Runs one call of mwms-triage: finds and examines runs, records results, writes outputs."""

import math
import os
import time
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from analyzer.engine import RulePack
from analyzer.model.errors import NothingReadable, UsageError
from analyzer.pipeline import load_rules
from analyzer.storage.object_store import is_url
from analyzer.triage.database.acknowledgements import acknowledgements
from analyzer.triage.database.history import History, KnownRun, UnreportedRun, as_usage_errors, open_history
from analyzer.triage.database.listings import is_listed, mark_listed, settle, stored_runs
from analyzer.triage.dates import DAY_SECONDS, date_of, midnight, night_of
from analyzer.triage.examine.output_conflicts import enclosing_run, hidden_run, resolved
from analyzer.triage.examine.run_discovery import FoundRun, UnlistedDirectory, find_runs
from analyzer.triage.examine.run_task import ExaminedRun, Task
from analyzer.triage.examine.settled_runs import QUIET_SECONDS, SettledRuns
from analyzer.triage.layout import Layout
from analyzer.triage.locks import WaitPolicy
from analyzer.triage.notify.delivery import Channel, deliver
from analyzer.triage.publish.output_files import (
    Outputs,
    outputs_at,
    remove_orphans,
    remove_reports,
    report_path,
)
from analyzer.triage.publish.publication import Publication, publish

T = TypeVar("T")
_QUERY_SIZE = 200
"""Maximum number of runs per query of the history."""
_COMMIT_SECONDS = 0.5
"""Commit interval in seconds: a kill loses at most this much work."""
_RELIST_SECONDS = 7 * DAY_SECONDS
"""Seconds after which object stores are listed in full again."""


class TriageOptions(NamedTuple):
    """Options of a call; times are in seconds; `now` and `since` count from the epoch."""

    roots: Sequence[str]
    folder: Path | str
    """Output directory: a local path, or the URL of one in an object store."""
    history: str
    now: float
    since: float = 0.0
    limit: int | None = None
    settle: float = 600.0
    """Seconds since the last write until which a run is skipped, because it may still be running."""
    keep: float = 90 * DAY_SECONDS
    """Seconds for which reports are kept."""
    keep_history: float | None = None
    """Seconds for which runs and the pages of their nights are kept, and looked for; None keeps all."""
    pattern: str | None = None
    relist: bool = False
    """True lists object stores in full, also directories that were quiet."""
    rules: tuple[str, ...] = ()
    again: bool = False
    """True examines every run again that other rules examined."""
    packs: bool = True
    """Whether to use the rules and readers of installed packages."""
    reports_url: str = ""
    """URL at which the output directory is served, without a slash at its end."""
    backfill: bool = False
    """True files each run under the night of its end, as the first call always does."""
    wait: WaitPolicy = WaitPolicy()
    layout: Layout = Layout()
    digest_by: str = ""
    """Field of a run (team, job or owner) for each value of which a digest is written."""
    channels: tuple[Channel, ...] = ()


class RunExaminer(Protocol):
    """Interface for examining many runs, in local processes or on a Dask cluster."""

    def examined(self, tasks: Iterable[Task]) -> Iterator[ExaminedRun]:
        """Yield the result of each task, in any order."""


@dataclass
class TriageResult:
    """Result of a call, updated during the call.

    It counts runs found, examined, of these the ones whose files were only written anew with the same content
    (`unchanged`), still being written (`waiting`), postponed by `--limit` (`left`) and, with `rules` of the
    user, left as other rules diagnosed them (`other_rules`).
    `filed` has the earlier nights that got runs, the latest first. `undated` counts those of their runs that
    state no time, so that the last write to their files counts.
    `unreported` has the runs that no earlier exit status has reported.
    """

    date: str
    found: int = 0
    examined: int = 0
    unchanged: int = 0
    waiting: int = 0
    left: int = 0
    other_rules: int = 0
    undated: int = 0
    filed: list[str] = field(default_factory=list)
    unlisted: list[UnlistedDirectory] = field(default_factory=list)
    unreported: list[UnreportedRun] = field(default_factory=list)


def triage(options: TriageOptions, examiner: RunExaminer) -> TriageResult:
    """Examine every new or changed run, update history and outputs, and return the result.

    Raises:
        NothingReadable: no root can be listed, or there is no run below the roots.
        UsageError: the output directory lies inside a run or holds runs, or another call uses it.
    """
    roots = _distinct_roots(options.roots)
    for root in roots:
        _check_output_folder(str(options.folder), root, options.pattern)
    outputs, result = outputs_at(options.folder), TriageResult(date_of(options.now))
    pack = load_rules([Path(each) for each in options.rules], packs=options.packs)
    with (
        outputs.lock(options.wait),
        open_history(options.history) as history,
        history.exclusive(options.wait),
        as_usage_errors(),
    ):
        call = _Call(options, roots, pack, outputs, history, result)
        touched = call.examine(examiner)
        _require_runs(options, result)
        call.publish(touched)
        result.unreported = _unreported(history, options.layout, result.date)
        history.end(result.date, options.now, result.found, result.waiting, result.unlisted)
    return result


def _require_runs(options: TriageOptions, result: TriageResult) -> None:
    """Raise NothingReadable if no run was found: then the pages of earlier calls stay as they are."""
    if not result.found:
        why = "; ".join(f"{each.place}: {each.reason}" for each in result.unlisted[:3])
        raise NothingReadable(why or f"{', '.join(options.roots)}: there is no run below it")


def _unreported(history: History, layout: Layout, date: str) -> list[UnreportedRun]:
    """Return the runs that no exit status has reported yet, without acknowledged and muted failures."""
    held = {name for name, given in acknowledgements(history).items() if given.holds(date)}
    return [
        each
        for each in history.unreported()
        if each.fingerprint not in held and not layout.is_muted(each.place, each.root, date)
    ]


class _Call(NamedTuple):
    """One call of mwms-triage: its options, its inputs and outputs, and its result so far."""

    options: TriageOptions
    roots: Sequence[str]
    pack: RulePack
    outputs: Outputs
    history: History
    result: TriageResult

    def examine(self, examiner: RunExaminer) -> set[str]:
        """Examine and record all runs, and return the nights that got a run."""
        options, history, result = self.options, self.history, self.result
        touched = {result.date}
        own_nights = options.backfill or history.is_first_call()
        history.begin(result.date, options.now)
        for batch in _batches_by_time(examiner.examined(self._tasks()), _COMMIT_SECONDS):
            by_night: dict[str, list[tuple[ExaminedRun, str | None]]] = defaultdict(list)
            for each in batch:
                if each.outcome == "written":
                    result.waiting += 1
                    continue
                result.unchanged += each.outcome == "same"
                night = each.task.night or (night_of(each, options.now) if own_nights else result.date)
                result.undated += night != result.date and _states_no_time(each)
                by_night[night].append((each, _write_report(self.outputs, each)))
            for night, runs in by_night.items():
                history.begin(night, min(options.now, midnight(night)))
                history.record(night, runs, options.reports_url)
            touched |= {*by_night}
        return touched

    def _tasks(self) -> Iterator[Task]:
        """Yield a task for each run to examine: new, changed or affected by new rules, within `--limit`."""
        options, history, result, pack = self.options, self.history, self.result, self.pack
        since = max(options.since, options.now - (options.keep_history or math.inf))
        for batch in _batches(self._found_runs(), _QUERY_SIZE):
            result.found += len(batch)
            known = history.known([each.place for _, each in batch])
            settle(history, {run.place: run.files for _, run in batch if _has_settled(run, known)})
            for root, each in batch:
                before = known.get(each.place)
                again = bool(before and before.is_current(each.stamp))
                if options.now - each.age < since:
                    continue
                if before and again and not before.is_outdated(pack, every=options.again):
                    result.other_rules += bool(options.rules) and before.rules != pack.digest
                    continue
                if each.age < options.settle:
                    result.waiting += 1
                elif options.limit is not None and result.examined >= options.limit:
                    result.left += 1
                else:
                    result.examined += 1
                    yield Task(
                        each.place,
                        each.path,
                        each.stamp,
                        before.content if before and not before.tries and not again else "",
                        options.rules,
                        pack.digest,
                        root,
                        each.written,
                        before.night if before and again else "",
                        options.packs,
                        each.files if _is_settled(each) else None,
                    )

    def _found_runs(self) -> Iterator[tuple[str, FoundRun]]:
        """Yield every run with its root; once a week, or with `--relist`, stores are listed in full."""
        options, history, result = self.options, self.history, self.result
        out, week_ago = os.path.realpath(options.folder), date_of(options.now - _RELIST_SECONDS)
        full = options.relist or not is_listed(history, week_ago)
        for root in self.roots:
            stored = stored_runs(history, root) if is_url(root) and not full else []
            known = SettledRuns(stored, options.now)
            for run in find_runs(root, options.now, result.unlisted.append, options.pattern, out, known):
                yield root, run
        if full and not result.unlisted and options.pattern is None:
            mark_listed(history, result.date)

    def publish(self, touched: set[str]) -> None:
        """Remove what is too old, and write the outputs of the call and the pages of the touched nights."""
        options, outputs, history, result = self.options, self.outputs, self.history, self.result
        kept_since = options.now - options.keep
        nights = remove_reports(outputs, history.forget_reports(date_of(kept_since)))
        remove_orphans(outputs, history.reports(), kept_since)
        if options.keep_history is not None:
            history.forget_runs(date_of(options.now - options.keep_history))
        counts = result.date, result.found, result.waiting, tuple(result.unlisted)
        result.filed = sorted(touched - {result.date}, reverse=True)
        filed = frozenset(result.filed)
        call = Publication(
            *counts, self.pack, options.layout, options.reports_url, options.digest_by, filed, result.undated
        )
        publish(outputs, history, call, touched | nights)
        deliver(history, options.channels, result.date, options.now, options.wait.notify, options.layout)


def _states_no_time(run: ExaminedRun) -> bool:
    """Return True for a run that is diagnosed now, and whose logs do not show when it ended."""
    return run.summary is not None and run.summary.ended is None and not run.task.night


def _has_settled(run: FoundRun, known: Mapping[str, KnownRun]) -> bool:
    """Return True for an examined run that has become settled since."""
    before = known.get(run.place)
    return bool(before and before.files is None and before.is_current(run.stamp) and _is_settled(run))


def _is_settled(run: FoundRun) -> bool:
    """Return True for a run in an object store that nobody has written to for `QUIET_SECONDS`."""
    return is_url(run.path) and run.age >= QUIET_SECONDS


def _write_report(outputs: Outputs, examined: ExaminedRun) -> str | None:
    """Write the report of a run and return its name; None without one."""
    if not examined.summary or not examined.report:
        return None
    report = report_path(examined.summary.name, examined.task.place)
    outputs.write(report, zlib.decompress(examined.report))
    return report


def _batches_by_time(items: Iterable[T], pause: float) -> Iterator[list[T]]:
    """Yield the items in batches, one every `pause` seconds at most, so that few transactions write them."""
    batch: list[T] = []
    last = time.monotonic()
    for item in items:
        batch.append(item)
        if time.monotonic() - last >= pause:
            yield batch
            batch, last = [], time.monotonic()
    if batch:
        yield batch


def _check_output_folder(folder: str, root: str, pattern: str | None) -> None:
    """Raise UsageError if outputs would be written into a run, or would hide runs."""
    if resolved(folder) == resolved(root):
        raise UsageError(f"-o {folder}: is the directory of the runs; name another one")
    if not is_url(root) and not is_url(folder) and (run := enclosing_run(folder, root)):
        raise UsageError(f"-o {folder}: lies inside the run {run}, and nothing is ever written there")
    if run := hidden_run(folder, root, pattern):
        raise UsageError(
            f"-o {folder}: holds the run {run}, which would no longer be found; name another one"
        )


def _distinct_roots(roots: Sequence[str]) -> list[str]:
    """Return the roots without duplicates and without those inside another one."""
    whole = list(dict.fromkeys(root.rstrip("/") if is_url(root) else os.path.abspath(root) for root in roots))  # noqa: PTH100
    return [root for root in whole if not any(root.startswith(f"{other.rstrip('/')}/") for other in whole)]


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
