"""Slurm's accounting of a job and its steps → facts and matches.

`sacct` prints fixed-width columns, separated columns (`--parsable2`) or JSON; `scontrol show job` names each
value. A step usually covers all tasks, so its state and exit code are assigned to a worker only if jobs or
steps are named after workers.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from analyzer.ingest.logs.fact_patterns import negative_signal
from analyzer.ingest.logs.text import storable
from analyzer.ingest.matcher import Matcher
from analyzer.ingest.platform.exit_records import JOB
from analyzer.ingest.reader_output import SourceRows
from analyzer.ingest.text_reader import (
    MAX_EXCERPT_CHARS,
    LineFinder,
    parsed_json,
    parts,
    read_lines,
    searched_text,
)
from analyzer.model.task_names import worker_of

_STATES = (
    "BOOT_FAIL", "CANCELLED", "COMPLETED", "COMPLETING", "CONFIGURING", "DEADLINE", "FAILED", "NODE_FAIL",
    "OUT_OF_MEMORY", "PENDING", "PREEMPTED", "REQUEUED", "RESIZING", "REVOKED", "RUNNING", "SUSPENDED",
    "TIMEOUT",
)  # fmt: skip
_RUNNING = frozenset({"COMPLETING", "RUNNING", "SUSPENDED"})
_NOT_STARTED = frozenset({"CONFIGURING", "PENDING", "REQUEUED", "RESIZING"})
_ID = re.compile(
    r"(?P<job>\d+(?:_(?:\d+|\[[^\]]*\]?))?(?:\+\d+)?)(?:\.(?P<step>[a-z0-9]*(?:\+\d*)?))?(?=$|[\s|,;+])"
)
_DESCRIBED = re.compile(r"(?m)^[ \t]*JobId=")
"""Regex for the beginning of a job in what `scontrol show job` prints."""
_STATE = re.compile(r"(?<![\w.])(?P<state>[A-Z][A-Z_]{1,13})(?P<cut>\+?)(?: by (?P<uid>\w+))?(?!\w)")
_CODE = re.compile(r"(?<![\d:.])(?P<status>\d{1,3}):(?P<signal>\d{1,3})(?![\d:.])")
_SIZE = re.compile(r"(?!0+\b)\d+(?:\.\d+)?[KMGTP]?n?c?$")
_ONE_NODE = re.compile(r"[A-Za-z0-9][\w.-]*$")
_OUT_OF_MEMORY = 125
"""Slurm's value in place of a signal if memory ran out."""


class Row(NamedTuple):
    """One line of sacct's output: a job, or a job step if `step` is not empty; `line` is None if unknown."""

    line: int | None
    job: str
    step: str
    name: str = ""
    state: str = ""
    by: str = ""
    code: str = ""
    max_rss: str = ""
    nodes: str = ""


def read(output: SourceRows, matcher: Matcher) -> None:
    """Read states, exit codes, memory and hosts, and the matches of rules."""
    text = searched_text(output, matcher)
    rows = _rows(output, text)
    workers, lines = _workers(rows), text.split("\n")
    for row in rows:
        excerpt = lines[row.line - 1].strip()[:MAX_EXCERPT_CHARS] if row.line else None
        _add_facts(output, row, workers.get((row.job, row.step), output.source.worker), excerpt)
    for worker, row in _exit_code_rows(rows, workers, output.source.worker).items():
        excerpt = lines[row.line - 1].strip()[:MAX_EXCERPT_CHARS] if row.line else None
        place = {"worker": worker, "line": row.line, "excerpt": excerpt}
        output.add("facts", key="exit_code", value=_exit_code(row), **place)


def _rows(output: SourceRows, text: str) -> list[Row]:
    opening = text.lstrip()
    if opening.startswith("JobId="):
        return list(_from_scontrol(text))
    return _from_json(output, text) if opening.startswith("{") else _from_columns(output, text)


def _from_scontrol(text: str) -> Iterator[Row]:
    """Yield the jobs that `scontrol show job` describes, `NAME=VALUE` on one line or on several."""
    for line, part in parts(text, _DESCRIBED):
        values = dict(re.findall(r"(?:^|\s)([A-Z]\w*)=(\S*)", part))
        state = next(_states(values.get("JobState", "")), ("", ""))
        code = _CODE.fullmatch(values.get("ExitCode", ""))
        at = line + part.count("\n", 0, max(0, part.find("JobState=")))
        yield Row(at, values["JobId"], "", values.get("JobName", ""), *state, code[0] if code else "")


def _add_facts(output: SourceRows, row: Row, worker: str | None, excerpt: str | None) -> None:
    state = "step_state" if row.step else "job_state"
    facts = {state: row.state, "cancelled_by": row.by, "max_rss": row.max_rss}
    if worker is None:
        facts["step_exit_code" if row.step else "job_exit_code"] = _exit_code(row) or ""
        facts |= {} if row.step else {f"exit_code:{JOB}{row.job}": _exit_code(row) or ""}
    if row.step.isdigit() or worker is not None:
        facts["host" if worker is not None and _ONE_NODE.match(row.nodes) else "nodes"] = row.nodes
    for key, value in facts.items():
        if value:
            output.add("facts", worker=worker, line=row.line, key=key, value=value, excerpt=excerpt)


def _exit_code(row: Row) -> str | None:
    """Return the exit code, negative for a signal; None if it did not run or Slurm ended it."""
    if row.state in _RUNNING:
        return "running"
    code = _CODE.fullmatch(row.code)
    if not code or row.state in _NOT_STARTED:
        return None
    status, signal = int(code["status"]), int(code["signal"])
    if signal:
        return None if signal == _OUT_OF_MEMORY else str(-signal)
    return str(negative_signal(status)) if status or row.state == "COMPLETED" else None


def _workers(rows: Sequence[Row]) -> dict[tuple[str, str], str]:
    """Map (job, step) to a worker if the names of jobs or steps distinguish several workers."""
    named = {(row.job, row.step): worker for row in rows if (worker := worker_of(f"{row.name}/"))}
    if len(set(named.values())) < 2:
        return {}
    steps = {(row.job, row.step): named.get((row.job, row.step), named.get((row.job, ""))) for row in rows}
    return {key: worker for key, worker in steps.items() if worker}


def _exit_code_rows(
    rows: Iterable[Row], workers: Mapping[tuple[str, str], str], source_worker: str | None
) -> dict[str, Row]:
    """Map each worker to the row of its last step; a job's own code is that of its batch script."""
    found: dict[str, Row] = {}
    for row in rows:
        worker = workers.get((row.job, row.step), source_worker)
        if worker and _exit_code(row) is not None and row.step.partition("+")[0] not in {"extern", "ext"}:
            known = found.get(worker)
            if known is None or known.step.isdigit() <= row.step.isdigit():
                found[worker] = row
    return found


def _from_columns(output: SourceRows, text: str) -> list[Row]:
    rows: list[Row] = []
    layout = _Layout()

    def read_line(number: int, line: str) -> bool:
        if layout.is_header(line):
            return True
        row = _row(number, line, layout.cells(line))
        rows.extend([row] if row else [])
        return row is not None

    read_lines(output, text, read_line, "no row of sacct")
    return rows


class _Layout:
    """Columns of a table, from its header and the ruler below it."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.separator = ""
        self.spans: list[tuple[int, int]] = []

    def is_header(self, line: str) -> bool:
        """Return whether the line is a header or ruler, and remember its columns."""
        words = [word.lower() for word in re.split(r"[\s|,;]+", line.strip())]
        if "jobid" in words or "jobidraw" in words:
            self.separator = next((separator for separator in "|\t,;" if separator in line), "")
            names = line.split(self.separator) if self.separator else words
            self.names, self.spans = [name.strip().lower() for name in names], []
            return True
        if "--" in line and not line.strip("- \t\r"):
            self.spans = [match.span() for match in re.finditer(r"-+", line)]
            return True
        return False

    def cells(self, line: str) -> dict[str, str]:
        """Map columns to a row's cells; empty if the row does not fit the header."""
        if self.separator:
            parts = line.split(self.separator)
        elif len(self.spans) == len(self.names) and not self._cuts_a_word(line):
            parts = [line[start:end] for start, end in self.spans]
        else:
            return {}
        if len(parts) != len(self.names):
            return {}
        return {name: part.strip() for name, part in zip(self.names, parts, strict=True)}

    def _cuts_a_word(self, line: str) -> bool:
        """Return True if a row is not aligned with the ruler, e.g. after editing."""
        return any(line[end : end + 1].strip() for _, end in self.spans)


def _row(number: int, line: str, cells: Mapping[str, str]) -> Row | None:
    """Parse a row by its columns, or by the form of its words if it has none or does not fit."""
    key = _ID.match(cells.get("jobid") or cells.get("jobidraw") or line.strip())
    if not key:
        return None
    state = next(_states(cells.get("state", "" if cells else line)), ("", ""))
    code = _CODE.search(cells.get("exitcode", "") if cells else line)
    if not cells and not (state[0] or code):
        return None
    rss, nodes = cells.get("maxrss", ""), cells.get("nodelist", "")
    return Row(
        number, key["job"], key["step"] or "", cells.get("jobname", ""), *state, code[0] if code else "",
        rss if _SIZE.match(rss) else "", "" if nodes.startswith("None") else nodes,
    )  # fmt: skip


def _states(text: str) -> Iterator[tuple[str, str]]:
    """Yield (state, user who cancelled); narrow columns truncate states (`OUT_OF_ME+`).

    Of `CANCELLED by 1000`, a column may have cut off who: the user is `unknown`.
    """
    for match in _STATE.finditer(text):
        for state in _STATES:
            if state == match["state"] or (match["cut"] and state.startswith(match["state"])):
                is_cut = bool(match["cut"]) and match["state"] == "CANCELLED"
                yield state, match["uid"] or ("unknown" if is_cut else "")


def _from_json(output: SourceRows, text: str) -> list[Row]:
    if (found := parsed_json(output, text, "sacct")) is None:
        return []
    jobs = found.get("jobs")
    if not isinstance(jobs, list):
        output.add_damage("is JSON, but holds no list of jobs")
        return []
    rows: list[Row] = []
    finder = LineFinder(text)
    for job in jobs:
        if isinstance(job, dict) and (number := _job_id(job)):
            line = finder.line(rf'"job_id":\s*{re.escape(_text(job.get("job_id")))}\b')
            rows.append(_json_row(line, number, "", job, job.get("nodes")))
            rows += _json_steps(number, job.get("steps"), finder)
        else:
            output.add_damage("an entry in the list of jobs is no job")
    return rows


def _job_id(job: Mapping[str, Any]) -> str:
    """Return the job's id as the tables print it; `123_4` for a member of an array."""
    number, array = _text(job.get("job_id")), _text(_at(job, "array", "job_id"))
    task = _text(_at(job, "array", "task_id"))
    if task and array not in {"", "0"}:
        return f"{array}_{task}"
    return number if number.isdigit() else ""


def _json_steps(job: str, steps: object, finder: LineFinder) -> Iterator[Row]:
    for step in steps if isinstance(steps, list) else ():
        key = step.get("step") if isinstance(step, dict) else None
        if isinstance(key, dict):
            step_id = key.get("id", key.get("step_id"))
            name = _text(_at(step_id, "step_id") if isinstance(step_id, dict) else step_id).rpartition(".")[2]
            line = finder.line(rf'"(?:step_)?id":\s*"?[\w+.]*{re.escape(name)}\b')
            nodes = step.get("nodes")
            listed = nodes.get("range") if isinstance(nodes, dict) else nodes
            row = _json_row(line, job, name, {**step, "name": key.get("name")}, listed)
            yield row._replace(max_rss=_max_rss(step.get("tres")))


def _json_row(line: int | None, job: str, step: str, facts: Mapping[str, Any], nodes: object) -> Row:
    state = facts.get("state")
    current = _at(state, "current") if isinstance(state, dict) else state
    words = current if isinstance(current, list) else [current]
    known = next((str(word) for word in words if word in _STATES), "")
    name, by, listed = _text(facts.get("name")), _text(facts.get("kill_request_user")), _text(nodes)
    own_nodes = "" if listed.startswith("None") else listed
    return Row(line, job, step, name, known, by, _json_code(facts.get("exit_code")), nodes=own_nodes)


def _json_code(code: object) -> str:
    """Return an exit code of the JSON as tables print it, `code:signal` as in `1:0`; empty without one."""
    if not isinstance(code, dict):
        return ""
    signal = _text(_at(code, "signal", "id")) or _text(_at(code, "signal", "signal_id"))
    return f"{_text(code.get('return_code')) or 0}:{signal or 0}"


def _max_rss(tres: object) -> str:
    """Return the largest memory use of a task of the step, in bytes."""
    most = _at(tres, "requested", "max")
    for item in most if isinstance(most, list) else ():
        if isinstance(item, dict) and item.get("type") == "mem" and _SIZE.match(_text(item.get("count"))):
            return _text(item["count"])
    return ""


def _at(value: object, *keys: str) -> Any:  # noqa: ANN401 - JSON
    """Return the value at a path of nested objects; None if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _text(value: object) -> str:
    """Return a JSON value as text; newer versions wrap numbers: `{"set": true, "number": 9}`."""
    if isinstance(value, dict):
        return _text(value.get("number")) if value.get("set") else ""
    if isinstance(value, bool) or value is None or isinstance(value, list):
        return ""
    return storable(str(value))[:400]
