"""What schedulers and supervisors keep of each task that ended → facts `exit_code:NAME`, one a name.

A record has an exit status, and names of what it is about: a job, a container, a host, a file of output.
Read are those of PBS (`qstat -xf`), Grid Engine (`qacct`), LSF (`bjobs -l`), HTCondor
(`condor_history -l`), systemd (`systemctl show` and `status`), and JSON of any program, as of
`docker inspect`, `podman ps`, AWS Batch and Nomad.
A name is left out if several records have it: nothing tells of which of them a log of that name is.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from signal import Signals
from typing import Any, NamedTuple

from analyzer.ingest.logs.fact_patterns import negative_signal
from analyzer.ingest.logs.text import storable
from analyzer.ingest.reader_output import SourceRows
from analyzer.ingest.text_reader import MAX_EXCERPT_CHARS, parts
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import host_in, worker_of

_BEGINS = re.compile(
    r"(?m)^(?:Job Id: |Job <|={20,}\r?\n(?=qname\b)|[●×○*] (?=[\w.@-]+\.service\b)"
    r"|(?:\r?\n)+(?=[A-Za-z]\w* ?= ?))|\A"
)
"""Regex for the place where a record of text begins; records of `NAME=VALUE` are separated by blank lines."""
_PAIR = re.compile(r"^\s*(?P<key>[A-Za-z]\w*|Main PID)(?: ?[=:] ?|[ \t]{2,})(?P<value>.*?)\s*$")
_JOB = re.compile(r"Job (?:Id: |<)(?P<job>\d+(?:\[\d+\])?)")
_OF_LSF = re.compile(
    r": (?:Exited with exit code (?P<code>\d+)|Exited by signal (?P<signal>\d+)|Done successfully)\."
)
_NEXT_OBJECT = re.compile(r"\s*(?=[\[{])")
_WRAPPED = re.compile(r"\n {21}")
"""Regex for where `bjobs -l` breaks a line at 80 characters, also within a word."""
_STATUS = re.compile(
    r"code=(?:(?:killed|dumped), signal=(?P<signal>[A-Z]{2,6}\d?)|exited, status=(?P<code>\d{1,3}))"
)
_HOST = re.compile(r"\"?(?:slot\w*@)?(?P<host>[A-Za-z][\w-]*)(?:[.:/][^+]*)?$")
"""Regex for the only host of a record: `gpu21/0*4` of PBS, but not its `gpu21/0*4+gpu22/0*4`."""
_OF_SERVICE = frozenset({"ExecMainStatus", "Main PID"})
_OF_THE_HOST = re.compile(
    r"(?i)(?:nvidia|dcgm|docker|containerd|podman|kube|slurm|munge|pbs|lsf|condor|systemd|ssh|nfs|rpc|network|nm-|"
    r"opensm|ib|rdma|lustre|gpfs|mmfs|autofs|sssd|nscd|chrony|ntp|cron|rsyslog|node[_-]?exporter|telegraf|datadog|"
    r"prometheus|fluent|filebeat|vector|promtail|snapd|apt|unattended)"
)
"""Regex for the start of the names of services that train nothing, but run on hosts that do."""
_HOSTS = frozenset({"hostname", "exec_host", "LastRemoteHost"})
_FILES = frozenset({"Out", "Err", "Output_Path", "Error_Path"})
_NAMES = frozenset({"Job_Name", "jobname", "Id"})
JOB = "job="
"""Before a name of a whole job, which is that of a worker only where each worker was a job of its own."""
_CODES = (
    "exitCode",
    "ExitCode",
    "exit_code",
    "Exit_status",
    "exitcode",
    "exit_status",
    "returncode",
    "return_code",
)
_BY_TASK = re.compile(r"(?:exit|return)_?(?:codes|status(?:es)?)")
"""Regex for a key of JSON below which the exit code of each task stands under its name, or its index."""
_INDEX_KEYS = (
    "rank",
    "worker",
    "task",
    "index",
    "task_index",
    "task_id",
    "replica",
    "worker_id",
    "worker_index",
)
_ROLE_KEYS = ("type", "role", "task_type", "job")
_KEYS = frozenset(
    {"id", "name", "names", "containerid", "containername", "logstreamname", "jobid", "jobname", "taskarn"}
)
"""Keys of JSON, in lower case, whose values name what an exit code is of."""
_OTHER_PROCESSES = frozenset({"Health", "healthcheck", "ExecIDs", "attempts", "lastState"})
"""Keys of JSON below which exit codes are of other processes, or of earlier attempts."""


_RECORDS = re.compile(
    r"(?m)^(?:Job Id: \S|Job <\d|qname +\S|ExitBySignal *= |ExecMainCode=|[●×○*] [\w.@-]+\.service\b)"
    rf"|\A\s*[\[{{](?=[\s\S]*?\"(?:{'|'.join(_CODES)})\"\s*:\s*-?\d)"
    r"|\A\s*\{(?=[\s\S]*?\"(?:exit|return)_?codes\"\s*:\s*\{)"
)
"""Regex for text with records, rather than a list of names and numbers."""


class _Ended(NamedTuple):
    """The end of one task: its exit code, negative for a signal, and what it may be called."""

    code: int
    names: frozenset[str]
    line: int | None = None
    out_of_memory: str = ""
    """In which word the runtime says that the task was OOM-killed; empty if it does not."""


def are_records(text: str) -> bool:
    """Return True if a text has records, rather than a name and a number a line."""
    return _RECORDS.search(text) is not None


def read_records(output: SourceRows, text: str) -> None:
    """Add the end of each record under each name that only this record has."""
    lines = text.split("\n")
    found = list(_of_json(text) if text.lstrip()[:1] in {"{", "["} else _of_text(text))
    seen = Counter(name for each in found for name in each.names)
    for each in found:
        excerpt = lines[each.line - 1].strip()[:MAX_EXCERPT_CHARS] if each.line else None
        own = sorted(name for name in each.names if seen[name] == 1)
        if len(found) == 1 and not any(name.startswith(JOB) for name in own):
            own = [*PurePosixPath(output.source.name).parts[-2:-1]] or own
        tasks = (worker_of(name, Kind.EXIT_CODES) for name in own if not host_in(name))
        place = {"worker": next(filter(None, tasks), None), "line": each.line, "excerpt": excerpt}
        for name in map(storable, own):
            output.add("facts", key=f"exit_code:{name}", value=str(each.code), **place)
            if each.out_of_memory:
                output.add("facts", key=f"out_of_memory:{name}", value=each.out_of_memory, **place)


def _of_text(text: str) -> Iterator[_Ended]:
    """Yield the ends of records whose lines are `NAME=VALUE`, `NAME = VALUE` or `NAME  VALUE`."""
    for first, part in parts(text, _BEGINS):
        numbered = enumerate(part.split("\n"), first)
        pairs = [(number, pair) for number, line in numbered if (pair := _PAIR.match(line))]
        values = {pair["key"]: pair["value"] for _, pair in pairs}
        is_service = not _OF_SERVICE.isdisjoint(values)
        if is_service and _OF_THE_HOST.match(values.get("Id") or part.lstrip("●×○* ")):
            continue
        if (stated := _code_of(values) or _code_of_lsf(part)) is not None:
            key, code = stated
            names = frozenset(("" if is_service else JOB) + name for name in _names_in(values, part) if name)
            yield _Ended(code, names, {pair["key"]: number for number, pair in pairs}.get(key))


def _code_of(values: Mapping[str, str]) -> tuple[str, int] | None:
    """Return the key that states how a task ended, and its exit code; None without any."""
    if (code := _number(values.get("Exit_status"))) is not None:
        return ("Exit_status", negative_signal(code)) if code >= 0 else None
    if (code := _number(values.get("exit_status", "").partition(" ")[0])) is not None:
        return "exit_status", negative_signal(code)
    if values.get("ExitBySignal", "").lower() == "true" and (signal := _number(values.get("ExitSignal"))):
        return "ExitSignal", -signal
    if (
        values.get("ExitBySignal", "").lower() == "false"
        and (code := _number(values.get("ExitCode"))) is not None
    ):
        return "ExitCode", negative_signal(code)
    if (code := _number(values.get("ExecMainStatus"))) is not None and values.get("ExecMainCode") in {
        "1",
        "2",
        "3",
    }:
        return "ExecMainStatus", negative_signal(code) if values["ExecMainCode"] == "1" else -code
    if (status := _STATUS.search(values.get("Main PID", ""))) is not None:
        code = int(status["code"]) if status["code"] else -Signals[f"SIG{status['signal']}"]
        return "Main PID", negative_signal(code)
    return None


def _code_of_lsf(part: str) -> tuple[str, int] | None:
    """Return an empty key and the exit code of the last event of a job of LSF; None if it did not end."""
    if not part.startswith("Job <") or not (ends := [*_OF_LSF.finditer(_WRAPPED.sub("", part))]):
        return None
    end = ends[-1]
    return "", -int(end["signal"]) if end["signal"] else negative_signal(int(end["code"] or 0))


def _number(text: str | None) -> int | None:
    return int(text) if text and re.fullmatch(r"-?\d{1,4}", text) else None


def _names_in(values: Mapping[str, str], part: str) -> Iterator[str]:
    """Yield what the task of a record of text may be called in the names of logs."""
    if job := _JOB.match(part):
        yield job["job"].replace("[", ".").rstrip("]")
    if (job_number := values.get("jobnumber", "").strip()).isdigit():
        task = values.get("taskid", "")
        yield f"{job_number}.{task}" if task.isdigit() else job_number
    if host := next((found["host"] for key in _HOSTS if (found := _HOST.match(values.get(key, "")))), ""):
        yield host
    for key in _FILES & values.keys():
        yield PurePosixPath(values[key].strip('"').rpartition(":")[2]).name
    for key in _NAMES & values.keys():
        yield values[key].removesuffix(".service")


def _of_json(text: str) -> Iterator[_Ended]:
    """Yield the ends that JSON states, also an object a line; those of a list that was cut are left out."""
    decoder, at = json.JSONDecoder(), 0
    while start := _NEXT_OBJECT.match(text, at):
        try:
            value, at = decoder.raw_decode(text, start.end())
        except (ValueError, RecursionError):
            return
        yield from _in_objects(value, frozenset())


def _in_objects(value: object, outer: frozenset[str], depth: int = 0) -> Iterator[_Ended]:
    """Yield the end that each object with an exit code states, with the names of the objects around it."""
    if isinstance(value, list) and depth < 12:
        for item in value:
            yield from _in_objects(item, outer, depth + 1)
    if not isinstance(value, dict) or depth >= 12:
        return
    names = outer | frozenset(_json_names(value))
    if (code := _json_code(value)) is not None:
        yield _Ended(code, names, out_of_memory=_out_of_memory(value))
        names = outer
    for key, item in value.items():
        if isinstance(item, dict) and _BY_TASK.fullmatch(key):
            yield from _by_task(item)
        elif isinstance(item, dict | list) and key not in _OTHER_PROCESSES:
            own = {key} if worker_of(key, Kind.EXIT_CODES) else ()
            yield from _in_objects(item, names.union(own), depth + 1)


def _by_task(codes: Mapping[str, object]) -> Iterator[_Ended]:
    """Yield the end of each task of an object of name → exit code; a bare number names a worker."""
    for name, code in codes.items():
        if isinstance(code, int) and not isinstance(code, bool):
            yield _Ended(negative_signal(code), frozenset({f"worker-{name}" if name.isdecimal() else name}))


def _json_code(value: Mapping[str, Any]) -> int | None:
    """Return the exit code of an object; None while it runs, and for events other than its end."""
    code = next((value[key] for key in _CODES if isinstance(value.get(key), int)), None)
    runs = value.get("Running") is True or value.get("Exited") is False or value.get("State") == "running"
    if code is None or isinstance(code, bool) or runs or value.get("Type", "Terminated") != "Terminated":
        return None
    signal = value.get("Signal")
    if not code and isinstance(signal, int) and signal > 0:
        return -signal
    return negative_signal(code)


def _out_of_memory(value: Mapping[str, Any]) -> str:
    """Return the word of Docker, or of AWS for its containers, if the kernel killed one for memory."""
    reason = str(value.get("reason") or "").partition(":")[0]
    return "OOMKilled" if value.get("OOMKilled") is True else reason if reason == "OutOfMemoryError" else ""


def _json_names(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names in an object: a container by all of its id and by 12 digits, a stream by all parts.

    A task may be named by its index, `{"type": "ps", "index": 1}` or `{"rank": 0}`.
    """
    index = next((value[key] for key in _INDEX_KEYS if isinstance(value.get(key), int)), None)
    if index is not None and not isinstance(index, bool):
        role = next((value[key] for key in _ROLE_KEYS if isinstance(value.get(key), str)), "worker")
        yield f"{role}-{index}"
    for key, item in value.items():
        if key.lower() not in _KEYS:
            continue
        for name in item if isinstance(item, list) else [item]:
            if isinstance(name, str) and name.strip("/"):
                yield from _spellings(name.strip("/"))


def _spellings(name: str) -> Iterable[str]:
    """Return a name as files may have it: a container's id in short, the last part of a log stream."""
    short = [name[:12]] if re.fullmatch(r"[0-9a-f]{64}", name) else []
    return {name, *short, name.rpartition("/")[2], name.replace("/", "_"), name.replace("/", "-")}
