"""Files of exit codes → facts: `worker-0 1`, `worker:1: -9`, `chief=None`, or one number for one worker.

A line may say it in words, as `worker 1: killed by signal 9` or `rank 0 exited with code 1`. A table whose
first column is headed `rank`, `worker` or `task` may have bare numbers in it. What
`docker ps -a` and `docker compose ps -a` print, and GNU parallel's `--joblog`, are such tables, too. Records
of schedulers and supervisors are read by `exit_records`.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from signal import Signals
from typing import Any

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
_HEAD = re.compile(r"\s*\[?[\"']?(?P<name>[A-Za-z][\w.-]{0,60}(?:[: ]\d{1,5})?)[\"']?(?:\]|:)\s*$")
"""Regex for a line that only names a task, above its exit code: in brackets, or before a colon."""
_ALONE = re.compile(
    r"\s*(?:(?:exit|return|status|code|rc)\w*(?: \w+){0,2}\s*[:=\s]\s*)?(?P<code>-?\d{1,3})\s*$",
    re.IGNORECASE,
)
"""Regex for the only content of a file of one worker, or for a line below the name of a task."""
_IN_WORDS = re.compile(
    r"\bsig(?:nal)?[ #:=(]{0,3}(?P<signal>\d{1,2})\b|\b(?P<name>SIG[A-Z]{3,4}\d?)\b"
    r"|(?:\b(?:code|status|rc|returned|return ?code|exit(?:ed)?|died with)\b[:=()\s]{1,4}|[|→>]\s{0,8}"
    r"|\d(?:: {1,8}|[ \t]{1,8}(?=-?\d{1,3}\s*$)))"
    r"(?P<code>-?\d{1,3})\b(?!\s*(?:s|sec|seconds|steps?)\b)",
    re.IGNORECASE,
)
"""Regex for an exit code or a signal in a line that names a worker."""
_SPACED = re.compile(r"\W*(?:worker|rank|task|replica|process|ps) +#?\d", re.IGNORECASE)
"""Regex for a worker whose first number is its index, and not its exit code."""
_CONTAINERS = re.compile(r"CONTAINER ID +IMAGE +.*\bNAMES\s*$|NAME +IMAGE +COMMAND +SERVICE +")
_CONTAINER = re.compile(r"\S+ .*?(?:\bExited \((?P<code>\d{1,3})\)|[ \"]Up \w)")

_JOBLOG = "Seq\tHost\tStarttime\tJobRuntime\t"
_JOB = re.compile(
    r"\d+\t(?P<host>[^\t]+)\t[^\t]*\t[^\t]*\t\d+\t\d+\t(?P<code>-?\d{1,3})\t(?P<signal>\d{1,2})\t(?P<command>.*)"
)
_INDEX_OPTION = re.compile(
    r"(?<![\w-])--?(?:(?:task|worker|node|process)[-_])?(?:index|rank|(?:task|worker|process)[-_]id)[= ]"
    r"[\"']?(?P<option>\d{1,5})\b"
    r"|\b(?:TASK_INDEX|TASK_ID|WORKER_INDEX|WORKER_ID|RANK|NODE_RANK)=[\"']?(?P<variable>\d{1,5})\b"
)
"""Regex for the index of a task as an argument of a command, or in its environment."""
_OUTPUT = re.compile(r"&?>{1,2} ?[\"']?(?:[^\s\"']*/)?(?P<stem>[\w.-]*\d[\w-]*)\.(?:log|out|txt)\b")
"""Regex for the file to which a command writes its output, without folder and suffix."""
_LONG_INDEX = re.compile(r"\b(?:worker|chief|ps|evaluator)[-_:]?\d{6,}", re.IGNORECASE)
_GIVEN_UP = ("none", "null")
"""Exit codes that a launcher writes of a process for which it no longer waits."""


def read(output: SourceRows, matcher: Matcher) -> None:
    """Read the exit code of each worker, negative for a signal, or `running`; and the matches of rules."""
    text = searched_text(output, matcher)
    _read_text(output, text)
    if text.strip() and output.read == "complete" and not output.rows.get("facts"):
        output.add_damage("names no worker with an exit code")


def _read_text(output: SourceRows, text: str) -> None:
    if are_records(text):
        read_records(output, text)
        return
    lines = text.split("\n")
    if _CONTAINERS.match(lines[0]):
        _read_containers(output, lines)
    elif lines[0].startswith(_JOBLOG):
        _read_joblog(output, lines)
    else:
        _read_lines(output, lines)


def _read_lines(output: SourceRows, lines: Sequence[str]) -> None:
    """Read lines that name a worker, or stand below one's name, or in the file of one, or in a table."""
    worker, is_table = output.source.worker, _HEADING.match(lines[0]) is not None
    for number, line in enumerate(lines, 1):
        place = {"line": number, "excerpt": line.strip()[:MAX_EXCERPT_CHARS]}
        if is_table and (row := _RANK.match(line)):
            _add_exit_code(output, {**place, "worker": f"worker:{int(row['rank'])}"}, row["code"])
        elif (head := _HEAD.match(line)) and (task := worker_of(head["name"], Kind.EXIT_CODES)):
            worker = task
        elif worker and (own := _ALONE.match(line)):
            _add_exit_code(output, {**place, "worker": worker}, own["code"])
        else:
            _read_line(output, place, line)


def _read_line(output: SourceRows, place: Mapping[str, Any], line: str) -> None:
    entries = () if _SPACED.match(line) else _ENTRY.finditer(line)
    added = [_add_entry(output, place, entry["name"], entry["code"]) for entry in entries]
    if any(added):
        return
    named = worker_of(line, Kind.EXIT_CODES)
    if named and (code := _code_in_words(line)):
        _add_exit_code(output, {**place, "worker": named}, code)
    elif named:
        output.add_damage(f"names {named} without a readable exit code", line=place["line"])
    elif _LONG_INDEX.search(line):
        output.add_damage("names a worker whose index is too long", line=place["line"])


def _code_in_words(line: str) -> str | None:
    """Return the exit code that a line states last, negative for a signal; None if it states none."""
    stated = [*_IN_WORDS.finditer(line)]
    if not stated:
        return None
    last = stated[-1]
    if last["name"]:
        return str(-Signals[last["name"].upper()]) if last["name"].upper() in Signals.__members__ else None
    return last["code"] or f"-{last['signal']}"


def _read_containers(output: SourceRows, lines: Sequence[str]) -> None:
    """Read a table of `docker ps` (names in the last column) or `docker compose ps` (in the first)."""
    column = 0 if lines[0].startswith("NAME") else -1
    for number, line in enumerate(lines[1:], 2):
        if row := _CONTAINER.match(line):
            place = {"line": number, "excerpt": line.strip()[:MAX_EXCERPT_CHARS]}
            _add_entry(output, place, line.split()[column], row["code"] or "running")


def _read_joblog(output: SourceRows, lines: Sequence[str]) -> None:
    """Read what GNU parallel writes of its jobs: a job is known by its command, or by its host.

    A host that ran several jobs tells none of them apart. `Seq` counts jobs from 1 and is no index.
    """
    jobs = [(number, job) for number, line in enumerate(lines, 1) if (job := _JOB.match(line))]
    hosts = Counter(job["host"] for _, job in jobs)
    for number, job in jobs:
        task = _task_of(job["command"])
        name = task or (job["host"] if hosts[job["host"]] == 1 and job["host"] != ":" else "")
        if name:
            place = {"line": number, "excerpt": job[0].strip()[:MAX_EXCERPT_CHARS]}
            code = f"-{job['signal']}" if int(job["signal"]) else job["code"]
            _add_entry(output, place, name.rpartition("@")[2], code)


def _task_of(command: str) -> str | None:
    """Return the log to which a command writes, else the task that its arguments name; None without any."""
    if written := _OUTPUT.search(command):
        return written["stem"]
    if index := _INDEX_OPTION.search(command):
        return f"worker-{index['option'] or index['variable']}"
    return worker_of(command, Kind.EXIT_CODES)


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
