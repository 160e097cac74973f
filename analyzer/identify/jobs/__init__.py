"""Rejects a directory that contains several jobs."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

import polars as pl

from analyzer.identify import identify
from analyzer.identify.claims import task_addresses
from analyzer.identify.jobs.evidence import (
    ADDRESSES,
    REPLICATION,
    STARTS,
    JobEvidence,
    are_separate,
    job_evidence,
)
from analyzer.model.errors import UsageError
from analyzer.model.messages import Messages
from analyzer.model.run import Tables
from analyzer.model.task_names import (
    attempt_of,
    is_previous,
    is_rotated,
    natural_order,
    without_task,
    words_before_task,
)
from analyzer.tables.grouping import grouped

_SEVERAL = 2
_MAX_NAMED = 8
_REST, _ALIKE, _LISTED = "the other files", "the files like", "("
"""How the names of jobs begin that are no directory."""
_MAX_LISTED = 3


class _Run(NamedTuple):
    """The ingested tables of a run, and which of its sources state what."""

    read: Tables
    messages: Messages
    starting: Mapping[str, str]
    """Source with the start of a process → the worker that its name states, else the source."""
    with_address: AbstractSet[str]
    with_replication: AbstractSet[str]
    clusters: Mapping[str, AbstractSet[str]]
    """Source → all addresses of the clusters that it states."""

    def may_hold_a_job(self, sources: Collection[str]) -> bool:
        """Return True if the sources have several processes, or one that may be a job on one machine."""
        processes = {self.starting[source] for source in sources if source in self.starting}
        alone = self.with_address.isdisjoint(sources) and not self.with_replication.isdisjoint(sources)
        return len(processes) >= _SEVERAL or (bool(processes) and alone)

    def evidence(self, sources: Collection[str]) -> JobEvidence:
        """Return what the sources state about their job if they are all of it."""
        parts = {
            name: rows.filter(pl.col("source").is_in(sources)) if rows.height else rows
            for name, rows in self.read.items()
        }
        return job_evidence(identify(parts, self.messages))


def require_one_job(name: str, read: Tables, messages: Messages) -> None:
    """Check that the run holds only one job.

    Raises:
        UsageError: the run contains several jobs.
    """
    if jobs := several_jobs(read, messages):
        many = _number(len(jobs), read["sources"]["source"].to_list())
        raise UsageError(f"{name}: these look like {many}: {_named(jobs)}; {_way_out(jobs)}")


def _number(jobs: int, sources: Sequence[str]) -> str:
    """Return the number of jobs; the least one if more directories may hold others."""
    folders = {_folder_in("", source) for source in sources} - {""}
    return f"at least {jobs} jobs in {len(folders)} directories" if len(folders) > jobs else f"{jobs} jobs"


def _named(jobs: Sequence[str]) -> str:
    """Return the names of the first jobs; the words before names of files are not repeated."""
    repeated = [bool(number) and jobs[number - 1].startswith(_ALIKE) for number in range(len(jobs))]
    shown = [
        job.removeprefix(f"{_ALIKE} ") if each else job for job, each in zip(jobs, repeated, strict=True)
    ]
    more = len(jobs) - _MAX_NAMED
    *first, last = [*shown[:_MAX_NAMED], f"{more} more"] if more > 0 else shown
    return f"{', '.join(first)} and {last}"


def _way_out(jobs: Sequence[str]) -> str:
    """Return what to give instead of several jobs."""
    if any(job.startswith((_REST, _ALIKE, _LISTED)) for job in jobs):
        return (
            "give the files of one, or put those of each job into a separate directory and give all to "
            "mwms-triage (if they are attempts of one job, name them attempt-1, attempt-2)"
        )
    return (
        "give one of them, or all of them to mwms-triage "
        "(if they are attempts of one job, call them attempt-1, attempt-2)"
    )


def several_jobs(read: Tables, messages: Messages) -> list[str]:
    """Return the places of the jobs in the ingested tables; empty if all files may belong to one job.

    Directories side by side, at any depth, are compared with each other, and with all files beside them that
    are no job of their own; files of one directory are grouped by their names without the task. Each group
    is identified as if it were the whole run. A part of a job, such as the files of one worker, host, kind of
    log or attempt, has no leader or lacks tasks that its logs mention. Copies of a job do not count.
    """
    facts, names = read["facts"], dict(read["sources"].select("source", "worker").iter_rows())
    starts, addresses, replication = (
        {*facts.filter(pl.col("key").is_in(keys))["source"]} for keys in (STARTS, ADDRESSES, REPLICATION)
    )
    starting = {source: worker or source for source, worker in names.items() if source in starts}
    clusters = _stated_addresses(facts)
    found = [*_jobs_in("", [*names], _Run(read, messages, starting, addresses, replication, clusters))]
    return found or _named_with_clusters([*names], clusters)


def _stated_addresses(facts: pl.DataFrame) -> dict[str, set[str]]:
    """Return source → the addresses of the clusters that it states."""
    clusters: dict[str, set[str]] = {}
    for source, spec in facts.filter(key="cluster_spec").select("source", "value").iter_rows():
        clusters.setdefault(source, set()).update(task_addresses(json.loads(spec)).values())
    return clusters


def _named_with_clusters(sources: Sequence[str], clusters: Mapping[str, AbstractSet[str]]) -> list[str]:
    """Return the jobs of files that differ in the words before the task, and in all addresses of clusters.

    One worker of each job is enough; each group of files must state a cluster of several tasks. Previous
    attempts, which may have run at other addresses, do not count.
    """
    files = [
        (words_before_task(each), each) for each in sources if each in clusters and not is_previous(each)
    ]
    jobs = {
        own[0]: set().union(*map(clusters.__getitem__, own)) for words, own in grouped(files).items() if words
    }
    apart = sum(map(len, jobs.values())) == len(set().union(*jobs.values()))
    are_jobs = len(jobs) >= _SEVERAL and apart and all(len(each) >= _SEVERAL for each in jobs.values())
    return [f"{_ALIKE} {name}" for name in jobs] if are_jobs else []


def _jobs_in(place: str, sources: Sequence[str], run: _Run) -> dict[str, JobEvidence]:
    """Return place → evidence for each job in one directory; empty if it holds one job, or a part of one."""
    if not run.may_hold_a_job(sources):
        return {}
    within = grouped((_folder_in(place, source), source) for source in sources)
    found: dict[str, JobEvidence] = {}
    single: dict[str, Sequence[str]] = {}
    for folder, own in within.items():
        inner = _jobs_in(folder, own, run) if folder != place else {}
        found |= inner
        if not inner:
            single[folder] = own
    folders = {folder: own for folder, own in single.items() if folder != place and run.may_hold_a_job(own)}
    beside = single.get(place, ())
    folders |= _jobs_beside_each_other(beside, run) or _jobs_of_other_clusters(beside, run)
    held = {source for own in folders.values() for source in own}
    parts = [source for own in single.values() for source in own if source not in held]
    if len(found) + len(folders) + run.may_hold_a_job(parts) < _SEVERAL:
        return {}
    others = f"{_REST} in {place}" if place else _REST
    jobs = found | _whole_jobs(folders, parts, others, run)
    places = sorted(jobs, key=lambda name: (name.startswith((_REST, _ALIKE, _LISTED)), natural_order(name)))
    apart = [name for name in places if _is_separate(name, jobs)]
    return _without_copies({name: jobs[name] for name in apart})


def _is_separate(name: str, jobs: Mapping[str, JobEvidence]) -> bool:
    """Return True if any other one of the jobs cannot be the same."""
    return any(are_separate(jobs[name], job) for other, job in jobs.items() if other != name)


def _jobs_beside_each_other(sources: Sequence[str], run: _Run) -> dict[str, Sequence[str]]:
    """Return name → files whose names differ only by the task; empty unless several groups may be jobs.

    Numbers beside the task are of jobs (`exp7-worker-0.log`) if a task has files with several of them.
    """
    alike = grouped((without_task(source), source) for source in sources)
    named = [own for words, own in alike.items() if words is not None]
    groups = [group for own in named for group in _by_number(own, run)]
    jobs = {f"{_ALIKE} {own[0]}": own for own in groups if run.may_hold_a_job(own)}
    return {**jobs} if len(jobs) >= _SEVERAL else {}


def _jobs_of_other_clusters(sources: Sequence[str], run: _Run) -> dict[str, Sequence[str]]:
    """Return names → files of clusters without a common address; empty unless several have all their logs.

    Logs that are named as attempts or older parts are left out: a job that came back has other addresses.
    """
    groups: list[tuple[set[str], list[str]]] = []
    for source in sources:
        if is_previous(source) or is_rotated(source) or attempt_of(source) or not run.clusters.get(source):
            continue
        met = [group for group in groups if group[0] & run.clusters[source]]
        groups = [group for group in groups if group not in met]
        addresses = set(run.clusters[source]).union(*(group[0] for group in met))
        groups.append((addresses, [*(each for group in met for each in group[1]), source]))
    jobs = [own for _, own in groups if run.may_hold_a_job(own)]
    if len(jobs) < _SEVERAL or len(jobs) < len(groups):
        return {}
    complete = all(run.evidence(own).is_complete for own in jobs)
    return {_listed_files(own): own for own in jobs} if complete else {}


def _listed_files(sources: Sequence[str]) -> str:
    more = len(sources) - _MAX_LISTED
    shown = [*sources[:_MAX_LISTED], *([f"{more} more"] if more > 0 else [])]
    return f"{_LISTED}{', '.join(shown)})"


def _by_number(sources: Sequence[str], run: _Run) -> Iterable[Sequence[str]]:
    """Return the files in groups by the numbers in their names, if a task started in several of them."""
    tasks = [run.starting[source] for source in sources if source in run.starting]
    if len({*tasks}) == len(tasks):
        return [sources]
    return grouped((without_task(source, numbers=True), source) for source in sources).values()


def _folder_in(place: str, source: str) -> str:
    """Return the folder of a directory that a source is in; the directory itself if it is in none."""
    depth = len(place) + 1 if place else 0
    folder, inside, _ = source[depth:].partition("/")
    return source[:depth] + folder if inside else place


def _whole_jobs(
    folders: Mapping[str, Sequence[str]], parts: Sequence[str], others: str, run: _Run
) -> dict[str, JobEvidence]:
    """Return name → evidence for each group of files, a folder or all `parts`, that may be a whole job.

    The files of all other groups count as one job, named `others` or, if it is a single group, by its name.
    """
    groups = {**folders, others: parts}
    evidence = {name: run.evidence(own) for name, own in groups.items() if run.may_hold_a_job(own)}
    whole = {name: job for name, job in evidence.items() if job.is_whole}
    rest = [source for name, own in groups.items() if name not in whole for source in own]
    if whole and run.may_hold_a_job(rest):
        single = [name for name in evidence if name not in whole]
        whole[single[0] if len(single) == 1 else others] = run.evidence(rest)
    return whole


def _without_copies(jobs: Mapping[str, JobEvidence]) -> dict[str, JobEvidence]:
    """Return the jobs, keeping only the first of several that may be the same job."""
    found: dict[str, JobEvidence] = {}
    for name, job in jobs.items():
        if all(are_separate(job, other) for other in found.values()):
            found[name] = job
    return found
