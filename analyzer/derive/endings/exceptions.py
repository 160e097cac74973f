"""Parses tracebacks: exception, location in the user's code, and whether the worker itself failed.

An exception is a worker's *own* unless it only reports a lost peer. TensorFlow marks such reports: a status
passed between workers names the remote target or has a marker (wording: `rules/messages/`).
"""

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from analyzer.derive.cluster.closures import closures, with_closures
from analyzer.derive.cluster.workers import tasks_by_address
from analyzer.derive.endings.aftermath import Aftermath, logs_without_labels
from analyzer.derive.endings.teardown import ended_by_scheduler, ended_from_outside
from analyzer.derive.training.ordering import dated, line_at
from analyzer.model.messages import STATES, Messages, Wording
from analyzer.model.task_names import is_task, tasks_in
from analyzer.model.tracebacks.frames import executed
from analyzer.model.tracebacks.lines import is_runtime_error
from analyzer.model.tracebacks.parse import Raised, parse
from analyzer.tables.builders import frame
from analyzer.tables.grouping import grouped

_DEFINED_AT = re.compile(
    r"Detected at node [^\n]* defined at \(most recent call last\):\n"
    r"(?:<stack traces unavailable>\n)?(?:(?: *File \"[^\n]*| {4,}[^\n]*)?\n)*(?:Node: [^\n]*\n)?"
)
"""Regex of the frames where a graph node was defined; TensorFlow prints them before the error message."""
_CREATED_AT = re.compile(r"\n\s*\nOriginal stack trace for '.*", re.DOTALL)
"""Regex of the frames that created an op of a session's graph, which TensorFlow prints below the message."""
_FROM_TASK = re.compile(r"^From /job:\S+:\n", re.MULTILINE)
"""Regex of the line that names the task on which an operation failed, above the message."""
_LOGS_BELOW = re.compile(r"\nRecent warning and error logs:\n.*", re.DOTALL)
"""Regex of unrelated log lines that TensorFlow adds below a message."""
_HEADING = re.compile(
    r"[^\n]*: (?:Graph execution error:|(?=From /job:))\n?"
    rf"(?:[^\S\n]*\n|{_DEFINED_AT.pattern}|\d+ root error\(s\) found\.\n|From /job:\S+:\n)*+"
    r"(?=[^\S\n]*(?!File \")\S)"
)
"""Regex of what TensorFlow prints above the message of a graph that failed, from the exception's name on."""
_BAR_BELOW = re.compile(r"\n\s*\d+/(?:\d+|Unknown) ?(?:\[[=>.]|━|- \d+m?s ).*", re.DOTALL)
"""Regex for a Keras bar, and all after it, below a message: standard output may be flushed late."""
_CALLED_BY_KERAS = re.compile(r"Exception encountered when calling [^\n]*\n\s*\n(?:\x1b\[1m)?")
"""Regex of what Keras 2.8 and later prints above the message of an exception that a layer raised."""
_ARGUMENTS_BELOW = re.compile(
    r"(?:\x1b\[0m)?\n\s*\n\s*(?:Call a|A)rguments received by [^\n]*:[^\S\n]*(?:\n.*|$)", re.DOTALL
)
"""Regex of what Keras prints below such a message."""
_TRACED_BY_AUTOGRAPH = re.compile(
    r"in user code:[^\S\n]*\n(?:[^\n]*\n)*?[^\S\n]*(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Iteration): "
)
"""Regex of the frames that AutoGraph prints above the message of an exception, up to that message."""
_CAUSED_BY = re.compile(
    r"^(?:\w+\.)*[A-Z]\w*: (\[Errno \d+\] [^\n]*)\n+The above exception was the direct cause of ",
    re.MULTILINE,
)
"""Regex of an error of the operating system from which another exception was raised (`raise … from`)."""
_IN_COLUMN = re.compile(r" {12,}Traceback \(")
"""Regex of a traceback in a column, as rich's log handler prints it: it breaks long lines between words."""
_OF_A_THREAD = re.compile(
    r'^[^\S\n]*Traceback [^\n]*\n\s*File "[^"\n]*threading\.py", line \d+, in _bootstrap', re.MULTILINE
)
"""Regex of a traceback with which a thread other than the main one ends; the process goes on."""
_OF_FINALIZER = re.compile(
    r'\s*Traceback [^\n]*\n\s*File "[^"\n]*multiprocessing[/\\]util\.py", line \d+, in _run_finalizers\n'
)
"""Regex of a traceback that multiprocessing prints as it cleans up behind a process; it is then dropped."""
_SHOWS_TRACEBACKS = "ultratb"
"""Module of IPython that shows tracebacks, and may itself fail as it shows one."""
_ON_DEVICE = re.compile(
    r"OOM when allocating tensor[^\n]* on (?P<task>/job:\w+/replica:\d+/task:\d+)/device:"
)
_NOT_SENT = re.compile(
    r"\n+During handling of the above exception, [^\n]*\n+Traceback \([^\n]*\n"
    r"(?:(?!During handling )[^\n]*\n)*?[^\n]* in ray\._raylet\.store_task_errors\n[\s\S]*\Z"
)
"""Regex of what stands below an exception that Ray could not send to the driver: why it could not."""
_LONGEST_MESSAGE = 2_000


class _Wording(NamedTuple):
    """Messages that classify an exception and the call that raised it."""

    passed_on: Wording
    answered: Wording
    of_launcher: Wording
    lost_connection: Wording
    met_itself: Wording
    types_not_own: frozenset[str]
    broken_connection: Wording
    lost_peer: Wording
    ends_nothing: Wording
    runtime: Wording
    via: Mapping[str, Wording]
    tells_of: Mapping[str, Wording]


def exceptions(
    records: pl.DataFrame,
    scalars: pl.DataFrame,
    facts: pl.DataFrame,
    sources: pl.DataFrame,
    messages: Messages,
) -> pl.DataFrame:
    """Return one row per traceback, in file order; `final` if the process did not continue after it."""
    found, wording = dated(records), _wording(messages)
    of_closures = [row for each in closures(found) if (row := _row(each, wording))]
    found = found.filter(pl.col("kind") == "traceback")
    if found.is_empty() and not of_closures:
        return frame("exceptions", [])
    every = [row for record in found.iter_rows(named=True) if (row := _row(record, wording))]
    rows = with_closures(_without_repetitions(every, wording), of_closures, wording.answered)
    _attribute(rows, facts)
    _disown_broken_connections(rows, wording, facts, sources)
    _disown_lost_peers(rows, wording, facts)
    aftermath = Aftermath(rows, records, scalars, facts, messages)
    for row in rows:
        row["final"] = not aftermath.shows_more_of(row)
        row["unordered_from"] = aftermath.flushed_from(row["source"])
    _outlive_threads(rows)
    return frame("exceptions", rows)


def _outlive_threads(rows: Sequence[dict[str, Any]]) -> None:
    """Set `final` to false, in place, for exceptions of threads that the main thread of the worker survived.

    An exception that only passes on a peer's failure shows that the worker trained until it lost the peer,
    also where its output and its errors are in two files, whose order does not show.
    """
    of_threads = [row["of_thread"] for row in rows]
    lost_a_peer = {
        (row["worker"], row["attempt"])
        for row, of_thread in zip(rows, of_threads, strict=True)
        if row["worker"] and row["final"] and not row["own"] and not of_thread
    }
    for row, of_thread in zip(rows, of_threads, strict=True):
        row["final"] &= not (of_thread and (row["worker"], row["attempt"]) in lost_a_peer)


def _without_repetitions(rows: Sequence[dict[str, Any]], wording: _Wording) -> list[dict[str, Any]]:
    """Return the exceptions without those that a launcher raised because of one above in the same log."""
    kept: list[dict[str, Any]] = []
    raised: set[tuple[Any, ...]] = set()
    for row in rows:
        log = row["worker"], row["attempt"], row["source"]
        if not (log in raised and wording.of_launcher.is_in(row["says"])):
            kept.append(row)
            raised.add(log)
    return kept


def _attribute(rows: Sequence[dict[str, Any]], facts: pl.DataFrame) -> None:
    """Set `worker`, in place, to the task whose memory ran out, or whose exit an exception's line reports.

    The only exception in a log of several workers without labels is of the only task that a launcher reports
    below it as one that failed by itself.
    """
    for row in rows:
        device = _ON_DEVICE.search(row["message"]) if row["worker"] else None
        on = next(filter(is_task, tasks_in(device["task"])), None) if device else None
        row["worker"] = on or row["worker"]
    stated = facts.filter((pl.col("key") == "exit_code") & pl.col("worker").is_not_null())
    exited = {(row["source"], row["line"]): row["worker"] for row in stated.iter_rows(named=True)}
    for row in rows:
        row["worker"] = exited.get((row["source"], row["line"]), row["worker"])
    mixed = logs_without_labels(facts)
    unknown = grouped(
        (row["source"], row) for row in rows if row["worker"] is None and row["source"] in mixed
    )
    for source, own in unknown.items():
        failed = {row["worker"] for row in _failures(stated, source) if row["line"] > own[-1]["line"]}
        if len(own) == len(failed) == 1:
            own[0]["worker"] = failed.pop()


def _failures(stated: pl.DataFrame, source: str) -> list[dict[str, Any]]:
    """Return the exit codes of a log by which a process failed by itself, not by a signal."""
    codes = pl.col("value").cast(pl.Int64, strict=False)
    lines = stated.filter((pl.col("source") == source) & pl.col("line").is_not_null() & (codes > 0))
    return lines.select("worker", "line").to_dicts()


def _disown_broken_connections(
    rows: Sequence[dict[str, Any]], wording: _Wording, facts: pl.DataFrame, sources: pl.DataFrame
) -> None:
    """Set `own` to false, in place, for broken connections that the end of another worker explains."""
    broken: list[dict[str, Any]] = []
    raised: set[str | None] = set()
    for row in rows:
        if row["own"] and wording.broken_connection.begins(f"{row['type']}: {row['message']}"):
            broken.append(row)
        elif row["own"]:
            raised.add(row["worker"])
    if not broken:
        return
    by_scheduler, ended = ended_by_scheduler(facts), raised | ended_from_outside(facts, sources)
    for row in broken:
        row["own"] = not (by_scheduler or ended - {row["worker"]})


def _disown_lost_peers(rows: Sequence[dict[str, Any]], wording: _Wording, facts: pl.DataFrame) -> None:
    """Set `own` to false, in place, where the user's program says that it lost another task's address."""
    lost = [
        (row, match.groupdict().get("address") or "")
        for row in rows
        if row["own"]
        for match in wording.lost_peer.matches(row["says"])
    ]
    tasks = tasks_by_address(facts) if lost else {}
    for row, address in lost:
        if tasks.get(address, row["worker"]) != row["worker"]:
            row["own"] = False


def _wording(messages: Messages) -> _Wording:
    return _Wording(
        messages.wording("passed_on"),
        messages.wording("answered"),
        messages.wording("of_launcher"),
        messages.wording("reason", "transport"),
        messages.wording("met_itself"),
        frozenset(messages.literals("not_own")),
        messages.wording("broken_connection"),
        messages.wording("peer", "transport"),
        messages.wording("ends_nothing"),
        messages.wording("runtime"),
        {via: messages.wording("raised_in", via) for via in STATES["raised_in"].words},
        {what: messages.wording("tells_of", what) for what in STATES["tells_of"].words},
    )


def _row(record: Mapping[str, Any], wording: _Wording) -> dict[str, Any] | None:
    text = _NOT_SENT.sub("", record["text"]) if "ray._raylet" in record["text"] else record["text"]
    raised = parse(text)
    if raised is None or wording.ends_nothing.begins(f"{raised.type}: {raised.message}"):
        return None
    if _OF_FINALIZER.match(text) or _is_of_display(text[: raised.start]):
        return None
    says = text[raised.start :].partition("\n")[0]
    heading = _HEADING.match(text, raised.start)
    ran = executed(text)
    message = _message(text, raised)
    place = {key: record[key] for key in ("worker", "attempt", "source")}
    return place | {
        "line": line_at(record, raised.start),
        "message_line": line_at(record, heading.end()) if heading else None,
        "time": record["near"],
        "until": record["until"],
        "type": raised.type,
        "message": message,
        "says": says,
        "own": not _passed_on(raised.type, record.get("quoted", ran), wording),
        "runtime": _is_of_runtime(raised, wording) or wording.runtime.begins(says),
        "of_thread": _OF_A_THREAD.search(text) is not None,
        "frame": raised.frame,
        "via": _first_in(ran, wording.via),
        "tells_of": _first_in(f"{raised.type}: {message}", wording.tells_of),
    }


def _first_in(text: str, ways: Mapping[str, Wording]) -> str | None:
    return next((way for way, words in ways.items() if words.is_in(text)), None)


def _is_of_display(frames: str) -> bool:
    """Return True if the last file in the frames of a traceback is what shows tracebacks in IPython."""
    return frames.rpartition(".py")[0].endswith(_SHOWS_TRACEBACKS)


def _message(text: str, raised: Raised) -> str:
    """Return the message of an exception, and behind it that of the operating system that caused it."""
    message = _CREATED_AT.sub("", _DEFINED_AT.sub("", _unwrapped(raised.message)))
    message = _LOGS_BELOW.sub("", _FROM_TASK.sub("", message))
    message = _BAR_BELOW.sub("", message)[:_LONGEST_MESSAGE]
    if _IN_COLUMN.match(text):
        message = " ".join(message.split())
    causes = _CAUSED_BY.findall(text, 0, raised.start)
    return f"{message} (caused by {causes[-1]})" if causes else message


def _unwrapped(message: str) -> str:
    """Return a message without what AutoGraph and Keras put around it, once for each function and layer."""
    while above := _CALLED_BY_KERAS.match(message) or _TRACED_BY_AUTOGRAPH.match(message):
        message = textwrap.dedent(" " * 4 + _ARGUMENTS_BELOW.sub("", message[above.end() :])).strip()
    return message


def _is_of_runtime(raised: Raised, wording: _Wording) -> bool:
    """Return True if TensorFlow's runtime or a device raised the error, or no frame is user code."""
    if raised.type == "FatalPythonError" or wording.runtime.begins(f"{raised.type}: {raised.message}"):
        return True
    return raised.frame is None and is_runtime_error(raised.type)


def _passed_on(kind: str, text: str, wording: _Wording) -> bool:
    if wording.answered.is_in(text):
        return False
    if wording.passed_on.is_in(text) or wording.of_launcher.is_in(text):
        return True
    if wording.met_itself.is_in(text):
        return False
    if kind in wording.types_not_own:
        return True
    return "errors_impl" in text and wording.lost_connection.is_in(text)
