"""Files of exit codes → facts: `worker-0 1`, `worker:1: -9`, `chief=None`, or one number for one worker.

A table whose first column is headed `rank`, `worker` or `task` may have bare numbers in it. What
`docker ps -a` and `docker compose ps -a` print, and GNU parallel's `--joblog`, are such tables, too. Records
of schedulers and supervisors are read by `exit_records`.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from analyzer.ingest.logs.fact_patterns import negative_signal
from analyzer.ingest.matcher import Matcher
from analyzer.ingest.platform.exit_records import are_records, read_records
from analyzer.ingest.reader_output import SourceRows
from analyzer.ingest.text_reader import MAX_EXCERPT_CHARS, searched_text
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import attempt_of, host_in, worker_of

_ENTRY = re.compile(
    r"(?<![A-Za-z])(?P<name>[A-Za-z][\w./-]{0,80}?(?:(?<!\d):\d{1,9})?)[\"']?\s{0,20}[:=,\t ]\s{0,20}"
    r"[\"']?(?P<code>-?\d{1,3}|None|null|running)\b",
    re.IGNORECASE,
)

_HEADING = re.compile(
    r"\W*(?:rank|worker|task|index|replica)\w*\W+(?:\w+\W+)*?\w*(?:exit|code|status|rc)", re.IGNORECASE
)
_RANK = re.compile(r"[\s|\"']*(?P<rank>\d{1,6})[\s|,;:=\"']+(?P<code>-?\d{1,3})[\s|\"']*$")
_CONTAINERS = re.compile(r"CONTAINER ID +IMAGE +.*\bNAMES\s*$|NAME +IMAGE +COMMAND +SERVICE +")
_CONTAINER = re.compile(r"\S+ .*?(?:\bExited \((?P<code>\d{1,3})\)|[ \"]Up \w)")

_JOBLOG = "Seq\tHost\tStarttime\tJobRuntime\t"
_JOB = re.compile(
    r"\d+\t(?P<host>[^\t]+)\t[^\t]*\t[^\t]*\t\d+\t\d+\t(?P<code>-?\d{1,3})\t(?P<signal>\d{1,2})\t(?P<command>.*)"
)
_LONG_INDEX = re.compile(r"\b(?:worker|chief|ps|evaluator)[-_:]?\d{6,}", re.IGNORECASE)
_GIVEN_UP = ("none", "null")
"""Exit codes that a launcher writes of a process for which it no longer waits."""


def read(output: SourceRows, matcher: Matcher) -> None:
    """Read the exit code of each worker, negative for a signal, or `running`; and the matches of rules."""
    text = searched_text(output, matcher)
    if are_records(text):
        read_records(output, text)
        return
    worker, lines = output.source.worker, text.split("\n")
    if _CONTAINERS.match(lines[0]):
        _read_containers(output, lines)
        return
    if lines[0].startswith(_JOBLOG):
        _read_joblog(output, lines)
        return
    is_table = _HEADING.match(lines[0]) is not None
    for number, line in enumerate(lines, 1):
        place = {"line": number, "excerpt": line.strip()[:MAX_EXCERPT_CHARS]}
        if is_table and (row := _RANK.match(line)):
            _add_exit_code(output, {**place, "worker": f"worker:{int(row['rank'])}"}, row["code"])
            continue
        added = [_add_entry(output, place, entry["name"], entry["code"]) for entry in _ENTRY.finditer(line)]
        if worker and re.fullmatch(r"\s*-?\d{1,3}\s*", line):
            _add_exit_code(output, {**place, "worker": worker}, line.strip())
        elif not any(added) and (named := worker_of(line, Kind.EXIT_CODES)):
            output.add_damage(f"names {named} without a readable exit code", line=number)
        elif not any(added) and _LONG_INDEX.search(line):
            output.add_damage("names a worker whose index is too long", line=number)


def _read_containers(output: SourceRows, lines: Sequence[str]) -> None:
    """Read a table of `docker ps` (names in the last column) or `docker compose ps` (in the first)."""
    column = 0 if lines[0].startswith("NAME") else -1
    for number, line in enumerate(lines[1:], 2):
        if row := _CONTAINER.match(line):
            place = {"line": number, "excerpt": line.strip()[:MAX_EXCERPT_CHARS]}
            _add_entry(output, place, line.split()[column], row["code"] or "running")


def _read_joblog(output: SourceRows, lines: Sequence[str]) -> None:
    """Read what GNU parallel writes of its jobs: a job is known by a task in its command, or by its host.

    A host that ran several jobs tells none of them apart.
    """
    jobs = [(number, job) for number, line in enumerate(lines, 1) if (job := _JOB.match(line))]
    hosts = Counter(job["host"] for _, job in jobs)
    for number, job in jobs:
        task = worker_of(job["command"], Kind.EXIT_CODES)
        name = task or (job["host"] if hosts[job["host"]] == 1 and job["host"] != ":" else "")
        if name:
            place = {"line": number, "excerpt": job[0].strip()[:MAX_EXCERPT_CHARS]}
            code = f"-{job['signal']}" if int(job["signal"]) else job["code"]
            _add_entry(output, place, name.rpartition("@")[2], code)


def _add_entry(output: SourceRows, place: Mapping[str, object], name: str, code: str) -> bool:
    """Add the exit code of `name` as a fact, with key `exit_code:NAME` if `name` has no role or is a host.

    Returns True if `name` identifies a worker.
    """
    worker, attempt = worker_of(name), attempt_of(name)
    has_role = worker_of(name, Kind.EXIT_CODES) is not None and not host_in(name)
    if len(re.findall(r"\d+", name)) > 2 and not has_role:
        worker = None
    task: Mapping[str, object] = {"worker": worker} | ({} if attempt is None else {"attempt": attempt})
    _add_exit_code(output, {**place, **task}, code, "exit_code" if has_role else f"exit_code:{name}")
    return worker is not None


def _add_exit_code(
    output: SourceRows, stated: Mapping[str, object], code: str, key: str = "exit_code"
) -> None:
    value = str(negative_signal(int(code))) if code.lstrip("-").isdigit() else "running"
    output.add("facts", key=key, value=value, **stated)
    if code.lower() in _GIVEN_UP:
        output.add("facts", key="given_up", value=code, **stated)
