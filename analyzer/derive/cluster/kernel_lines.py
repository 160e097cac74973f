"""Tells which lines of kernel logs concern a worker: by the time, the host and the process that they name.

A kernel log holds weeks, all processes of its host, and often it is of a host beside those of the job.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import NamedTuple

import polars as pl

from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import host_in, is_kernel_log, names_host, worker_of
from analyzer.tables.grouping import grouped
from analyzer.tables.kernel_times import RunTimes

_PROCESS = re.compile(r"\bpid[= ](\d+)|\bKill(?:ed)? process (\d+)|\[(\d+)\]: segfault at ")
"""Regex for a process that a line of a kernel log is about."""
_ENDED = re.compile(
    r"\bKill(?:ed)? process \d+,? \((?P<killed>[^)]+)\)|\btask=(?P<task>[^,]+),pid=\d"
    r"|(?P<crashed>[^\s:\[\]]+)\[\d+\]: segfault at |traps: (?P<trapped>[^\s\[]+)\[\d+\] "
)
"""Regex for the name of a process whose end a line of a kernel log reports."""
_ANNOUNCED = re.compile(r" invoked oom-killer: |oom-kill:constraint=")
"""Regex for the lines above the one that names the killed process; the first names who asked for memory."""
_PYTHON = re.compile(r"(?:i?python|pypy)[\d.]*\w?|pt_main_thread|ray::.*")
"""Regex for the names under which the kernel knows a process that runs Python."""
_SYSLOG = re.compile(
    r"(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\S+) (?P<host>[\w.-]+) kernel: "
)
_SHORT = re.compile(r"(\d+(?:\.\d+){3}|[^\s.:]+)")
"""Regex for a host's name without its domain, or its IPv4 address."""
_SUFFIX = re.compile(r"(?:\.(?:txt|log|out|err|gz|zst|xz|bz2|\d{1,3}))+$")
_WORDS = re.compile(r"(?:^|[-_.])(?:dmesg|kernel|kern)(?=[-_.]|$)")
_NO_HOSTS = frozenset({"", "localhost", "127.0.0.1", "0.0.0.0"})  # noqa: S104 - names, not an address to bind
_ENDED_OTHERWISE = frozenset({"aborted_by_peer", "finished", "running", "never_started"})
"""Ends of workers whose process the kernel did not end."""

TIME, HOST, PROCESS = "before or after the run", "on another host", "of a process with a different name"
"""Why a line does not concern the job."""


class Line(NamedTuple):
    """What a matched line tells: its worker, whether it is of a kernel log, and why it concerns nobody."""

    worker: str | None
    kernel_log: bool
    foreign: str | None


def kernel_lines(
    tables: Mapping[str, pl.DataFrame],
    workers: pl.DataFrame,
    lifetimes: pl.DataFrame,
    run_times: RunTimes,
) -> list[Line]:
    """Return what each of the matched lines of the tables tells."""
    found = tables["matches"]
    has_syslog = found["excerpt"].str.contains(" kernel: ", literal=True).any()
    if not has_syslog and not any(map(is_kernel_log, found["source"].unique())):
        return [Line(worker, kernel_log=False, foreign=None) for worker in found["worker"]]
    return _KernelLines(tables, workers, lifetimes, run_times).of(found)


class _KernelLines:
    """Assigns lines of kernel logs to workers."""

    def __init__(
        self,
        tables: Mapping[str, pl.DataFrame],
        workers: pl.DataFrame,
        lifetimes: pl.DataFrame,
        run_times: RunTimes,
    ) -> None:
        """Take the facts and sources from `tables`."""
        facts = tables["facts"]
        self._run_times, self._hosts = run_times, _hosts(facts, tables["sources"], workers)
        self._ended: dict[str, str] = dict(lifetimes.select("worker", "ended").iter_rows())
        trains = lifetimes.filter("trains")["worker"].to_list()
        self._shapes = [{_shape(name) for name in self._hosts.get(worker, ())} for worker in trains]
        self._owners = _owners_of_processes(facts)
        commands = facts.filter(key="recorded_command")["value"].drop_nulls().str.extract(r"^(?:\S*/)?(\S+)")
        self._programs = {name[:15] for name in commands.drop_nulls().to_list()}

    def of(self, found: pl.DataFrame) -> list[Line]:
        """Return what each of the matched lines tells."""
        apart = self._run_times.apart_from_run(found, "excerpt")
        named = _processes(found)
        rows = found.select("worker", "source", "line", "excerpt").iter_rows()
        return [
            self._line(worker, source, excerpt, named.get((source, line)), apart=early)
            for (worker, source, line, excerpt), early in zip(rows, apart, strict=True)
        ]

    def _line(
        self, worker: str | None, source: str, excerpt: str, process: str | None, *, apart: bool
    ) -> Line:
        syslog = _SYSLOG.match(excerpt)
        if not (syslog or is_kernel_log(source)):
            return Line(worker, kernel_log=False, foreign=None)
        if apart:
            return Line(worker, kernel_log=True, foreign=TIME)
        by_id = _PROCESS.search(excerpt)
        owner = self._owners.get(by_id[by_id.lastindex or 0]) if by_id else None
        if owner and worker in {None, owner}:
            return Line(owner, kernel_log=True, foreign=None)
        if process and not _PYTHON.fullmatch(process) and process not in self._programs:
            return Line(worker, kernel_log=True, foreign=PROCESS)
        return self._on_host(worker, source, _short_name(syslog["host"]) if syslog else None, process)

    def _on_host(self, worker: str | None, source: str, host: str | None, process: str | None) -> Line:
        """Return a line by the workers on its host; the end of a process is that of one who so ended."""
        on_it = [worker] if worker else self._workers_on(source.lower(), host)
        if not on_it:
            elsewhere = self._is_elsewhere(host or _host_of(source.lower()))
            return Line(None, kernel_log=True, foreign=HOST if elsewhere else None)
        if process:
            on_it = [each for each in on_it if self._ended.get(each) not in _ENDED_OTHERWISE]
        found = on_it[0] if len(on_it) == 1 else None
        return Line(found, kernel_log=True, foreign=None if on_it else HOST)

    def _workers_on(self, source: str, host: str | None) -> list[str]:
        """Return the workers on the host that a line names, else on that which its file or folder names."""
        path = PurePosixPath(source)
        for text in [host] if host else [path.name, *path.parent.parts[::-1]]:
            on_it = [
                each for each, names in self._hosts.items() if any(names_host(text, name) for name in names)
            ]
            if on_it:
                return on_it
        return []

    def _is_elsewhere(self, host: str) -> bool:
        """Return True if all workers are known to run on other hosts, of names like this one's: `node7`."""
        return bool(host and self._shapes) and all(_shape(host) in shapes for shapes in self._shapes)


def _hosts(facts: pl.DataFrame, sources: pl.DataFrame, workers: pl.DataFrame) -> Mapping[str, set[str]]:
    """Return worker → the names of its host that facts, its address and the names of its logs state."""
    stated = facts.filter((pl.col("key") == "host") & pl.col("worker").is_not_null())
    pairs = [
        *stated.select("worker", "value").iter_rows(),
        *workers.select("worker", "host").drop_nulls().iter_rows(),
        *workers.select("worker", "address").drop_nulls().iter_rows(),
    ]
    found = [(worker, short) for worker, name in pairs if (short := _short_name(name)) not in _NO_HOSTS]
    logs = sources.filter(kind=Kind.LOG.value).drop_nulls("worker").select("worker", "source")
    found += [(worker, part) for worker, log in logs.iter_rows() for part in _parts_like_hosts(log.lower())]
    return {worker: {*names} for worker, names in grouped(found).items()}


def _parts_like_hosts(log: str) -> Iterator[str]:
    """Yield the parts of a log's path that have letters and a number and state no task, as `node7` has."""
    path = PurePosixPath(log)
    for part in (_SUFFIX.sub("", path.name), *path.parent.parts):
        has_both = re.search(r"[a-z]", part) and re.search(r"\d", part)
        if has_both and not is_kernel_log(log) and (host_in(part) or worker_of(part, Kind.OTHER) is None):
            yield part


def _host_of(source: str) -> str:
    """Return the host in the name of a kernel log, else its folder: `node99` of `dmesg-node99.txt`."""
    path = PurePosixPath(source)
    own = _WORDS.sub("", _SUFFIX.sub("", path.name)).strip("-_.")
    return own or path.parent.name


def _short_name(host: str) -> str:
    """Return a host's name in lower case and without its domain and port; empty if it begins with neither."""
    short = _SHORT.match(host.lower())
    return short[1] if short else ""


def _shape(name: str) -> str:
    return re.sub(r"\d+", "#", name)


def _processes(found: pl.DataFrame) -> dict[tuple[str, int], str]:
    """Return (source, line) → the process whose end it reports; above the line that names it, the same."""
    named: dict[tuple[str, int], str] = {}
    below: dict[str, str] = {}
    rows = found.select("source", "line", "excerpt").unique().sort("source", "line", descending=True)
    for source, line, excerpt in rows.iter_rows():
        ended = _ENDED.search(excerpt)
        if ended:
            below[source] = ended[ended.lastgroup or 0]
        if ended or (_ANNOUNCED.search(excerpt) and source in below):
            named[source, line] = below[source]
    return named


def _owners_of_processes(facts: pl.DataFrame) -> Mapping[str, str]:
    """Return process ID → its worker; those that several workers state, as in containers, are left out."""
    stated = facts.filter((pl.col("key") == "process_id") & pl.col("worker").is_not_null())
    pairs = dict.fromkeys(stated.select("value", "worker").iter_rows())
    several = Counter(process for process, _ in pairs)
    return {process: worker for process, worker in pairs if several[process] == 1}
