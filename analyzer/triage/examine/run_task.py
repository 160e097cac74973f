"""Diagnoses one run, in a worker process or on a cluster, and returns a small result.

A run that cannot be diagnosed yields a result too, so that it never affects other runs.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from analyzer.model.errors import UserError
from analyzer.model.options import AnalysisOptions
from analyzer.model.task_names import order
from analyzer.storage.object_store import download, is_url
from analyzer.storage.scratch import ScratchDirectory
from analyzer.tables.grouping import grouped
from analyzer.triage.dates import known_time
from analyzer.triage.examine.run_discovery import stamp_of
from analyzer.triage.examine.storage import storage_for

if TYPE_CHECKING:
    from analyzer.engine import RulePack

_BLOCK = 1 << 20
_MAX_SUMMARY_CHARACTERS = 600
_MAX_NAME = 200


class Task(NamedTuple):
    """A run to examine; `content` is the content digest at its last examination, empty if none."""

    place: str
    path: str
    stamp: str
    content: str = ""
    rules: tuple[str, ...] = ()
    """Additional directories of rules."""
    digest: str = ""
    """Digest of all rules; a process whose cached rules have another digest reloads them."""
    root: str = ""
    """Directory or URL below which the run was found."""
    written: float = 0.0
    """Time of the last write to a file of the run, in seconds since the epoch."""
    night: str = ""
    """Night of the last examination, if the run is examined again for new rules only."""
    packs: bool = True
    """Whether to use the rules and readers of installed packages."""
    files: int | None = None
    """Number of files of the run if it is settled, so that it need not be listed again."""


class Host(NamedTuple):
    """A machine of a run, with the numbers of its workers and of the culprits among them, and its role."""

    name: str
    workers: int
    culprits: int
    role: str | None = None
    """`chief` if it has the chief (worker 0 if there is none), else `ps` or `worker`."""

    @property
    def counts(self) -> dict[str, Any]:
        """Return the host's columns in the history database, without its name."""
        return {"workers": self.workers, "culprits": self.culprits, "role": self.role}


class RunSummary(NamedTuple):
    """Parts of a diagnosis that the history stores.

    Times are in seconds since the epoch; None if the logs state none, or none with a year.
    """

    name: str
    verdict: str
    cause: str | None
    rule: str | None
    owner: str
    confidence: float
    summary: str
    fingerprint: str
    culprits: tuple[str, ...]
    started: float | None
    ended: float | None
    hosts: tuple[Host, ...]
    rules: str | None = None
    """Digest of all rules."""
    rule_digest: str | None = None
    """Digest of the rule that explains the run."""


class ExaminedRun(NamedTuple):
    """Result of a task.

    `outcome` is `diagnosed`, `same` (content unchanged), `written` (changed during the examination) or
    `broken` (see `problem`). A run with a `transient` problem is examined again.
    """

    task: Task
    outcome: str
    content: str = ""
    summary: RunSummary | None = None
    report: bytes = b""
    """The HTML report, compressed with zlib; empty without a diagnosis, and for healthy runs."""
    problem: str = ""
    transient: bool = False


def broken(task: Task, problem: str, *, transient: bool) -> ExaminedRun:
    """Return the result of a run that could not be diagnosed."""
    return ExaminedRun(task, "broken", problem=problem[:_MAX_SUMMARY_CHARACTERS], transient=transient)


def examine(task: Task) -> ExaminedRun:
    """Diagnose one run, and return the result; errors become a `broken` result, never an exception."""
    try:
        with _local_copy(task) as (path, content):
            if content == task.content:
                return ExaminedRun(task, "same", content)
            document, report = _diagnose(path, task)
            if not is_url(task.path) and stamp_of(storage_for(task.path).files(task.path)) != task.stamp:
                return ExaminedRun(task, "written", content)
            compressed = zlib.compress(report.encode(), 6) if report else b""
            return ExaminedRun(task, "diagnosed", content, run_summary(document, task), compressed)
    except UserError as error:
        return broken(task, str(error), transient=False)._replace(content=content_digest(task))
    except MemoryError:
        return broken(task, "not enough memory", transient=True)
    except OSError as error:
        return broken(task, f"it could not be downloaded: {error.strerror or error}", transient=True)
    except Exception as error:  # noqa: BLE001 - a mistake of ours on one run must not cost the others
        return broken(task, f"internal error: {type(error).__name__}: {error}", transient=True)


def content_digest(task: Task) -> str:
    """Return a digest of the files' content; for a run in an object store, its stamp (from ETags)."""
    if is_url(task.path):
        return task.stamp
    whole, base = hashlib.blake2b(digest_size=16), Path(task.path)
    for name, size, _, _ in sorted(storage_for(task.path).files(task.path)):
        whole.update(f"{name}\0{size}\0".encode("utf-8", "surrogateescape"))
        _hash_file(whole, base / name if base.is_dir() else base)
    return whole.hexdigest()


def _hash_file(whole: hashlib.blake2b, path: Path) -> None:
    if not path.is_file():  # opening a pipe would block
        return
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                whole.update(block)
    except OSError as error:
        whole.update(f"unreadable: {error.errno}".encode())


@contextmanager
def _local_copy(task: Task) -> Iterator[tuple[Path, str]]:
    """Yield a local path and the content digest of the run; remove a downloaded copy afterwards."""
    content = content_digest(task)
    if not is_url(task.path) or content == task.content:
        yield Path(task.path), content
        return
    with ScratchDirectory() as scratch:
        yield download(task.path, Path(scratch)), content


def _diagnose(path: Path, task: Task) -> tuple[Mapping[str, Any], str]:
    """Return the diagnosis of a run and its report; that of a healthy run is empty."""
    from analyzer.pipeline import analyze  # imports polars, which reads POLARS_MAX_THREADS only then
    from analyzer.render import render

    options = AnalysisOptions(packs=task.packs)
    document = analyze([path], options, _cached_rules(task.rules, task.digest, task.packs)).document
    return document, "" if document["verdict"] == "healthy" else render(document, "html")


@lru_cache(maxsize=1)
def _cached_rules(rules: tuple[str, ...], _digest: str, packs: bool) -> RulePack:
    from analyzer.pipeline import load_rules

    return load_rules([Path(each) for each in rules], packs=packs)


def run_summary(document: Mapping[str, Any], task: Task) -> RunSummary:
    """Return the parts of a diagnosis that the history stores."""
    run, pack = document["run"], _cached_rules(task.rules, task.digest, task.packs)
    same = {name: document[name] for name in ("verdict", "cause", "rule", "fingerprint")}
    return RunSummary(
        **same,
        name=str(run["name"])[:_MAX_NAME],
        owner=document["action"]["owner"],
        confidence=float(document["confidence"]),
        summary=document["summary"][:_MAX_SUMMARY_CHARACTERS],
        culprits=tuple(document["culprits"]),
        started=known_time(run["started"]),
        ended=known_time(run["ended"]),
        hosts=_hosts(document["workers"]),
        rules=pack.digest,
        rule_digest=pack.rule_digest(document["rule"]),
    )


def _hosts(workers: list[Mapping[str, Any]]) -> tuple[Host, ...]:
    held = grouped((str(each["host"])[:_MAX_NAME], each) for each in workers if each["host"])
    chief = min((str(each["id"]) for each in workers), key=order, default="")
    return tuple(
        Host(host, len(ours), sum(each["part"] == "culprit" for each in ours), _role(ours, chief))
        for host, ours in sorted(held.items())
    )


def _role(workers: list[Mapping[str, Any]], chief: str) -> str:
    tasks = {str(each["id"]) for each in workers}
    if chief in tasks:
        return "chief"
    return "ps" if any(task.startswith("ps:") for task in tasks) else "worker"
