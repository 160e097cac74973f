"""Tracebacks, taken apart: what was raised, where in the user's code, and whose doing it was.

An exception is a worker's *own* unless it only passes on that a peer was lost. TensorFlow says so itself:
a status that crossed a worker carries `Collective ops is aborted by`, the remote target, or a derived mark.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import polars as pl

from analyzer.derive.ordering import comes_after, dated, last_progress, line_at
from analyzer.tables.builders import frame

PASSED_ON = (
    "Collective ops is aborted by", "Additional GRPC error information from remote target",
    "Error reported from /job:", "[_Derived_]", "tensorflow.DerivedStatus", "is down, aborting",
    "cluster check alive failed", "heartbeat timeout", "stopped sending heartbeats",
    "Failed to send RPC to coordination service", "Collective has timed out",
    "Session handle is not found", "collective ops already aborted", "was probably restarted",
)  # fmt: skip
_TRANSPORT = (
    "Socket closed",
    "Connection reset by peer",
    "failed to connect to all addresses",
    "Connection refused",
)
_NOT_OWN = frozenset(
    {"KeyboardInterrupt", "SystemExit", "PSUnavailableError", "ClosureAbortedError", "CancelledError"}
)
_HEAD = re.compile(r"Traceback \(most recent call last\):|Fatal Python error: ")
_FRAME = re.compile(
    r'^\s*(?:\| )?File "(?P<path>[^"]+)", line (?P<line>\d+)(?:, in (?P<name>.+))?$', re.MULTILINE
)
_LIBRARY = re.compile(
    r"site-packages|dist-packages|/lib/python\d|/python-?\d[\d.]*/lib/|^<|/runpy\.py$|lib-dynload"
)
_ENDING = re.compile(r"^[^\s|+^]", re.MULTILINE)
_NAME = re.compile(r"(?:[A-Za-z_]\w*\.)*(?P<type>[A-Za-z_]\w*)(?::\s?(?P<message>.*))?$", re.DOTALL)
_DEFINED_AT = re.compile(
    r"Detected at node [^\n]* defined at \(most recent call last\):\n"
    r"(?:(?: *File \"[^\n]*| {4,}[^\n]*)?\n)*(?:Node: [^\n]*\n)?"
)
"""Where a graph node was made: frames that TensorFlow puts in front of what went wrong."""
_VIA = (
    ("input", r"PyFunc|IteratorGetNext|GeneratorDataset|MultiDeviceIterator|RemoteCall|data/ops/"),
    ("restore", r"RestoreV2|TensorSliceReader|load_weights|load_model|restore\("),
    ("save", r"save_restore|SaveV2|model\.save|save_weights|checkpoint_management|_temp/part-"),
    ("strategy", r"in _initialize_(?:strategy|multi_worker|local)|cluster_resolver"),
    ("callback", r"in on_(?:train|epoch|batch|test|predict)_\w+|callbacks\.py"),
    ("collective", r"Collective(?:Reduce|Bcast|Gather)|NcclAllReduce"),
)


_GOES_ON = ("process_banner", "server_address", "agent_connected", "replicas")
"""What only a process that is starting up states: an exception before it was caught."""


def exceptions(records: pl.DataFrame, scalars: pl.DataFrame, facts: pl.DataFrame) -> pl.DataFrame:
    """One row a traceback record, in file order."""
    found = dated(records).filter(pl.col("kind") == "traceback")
    rows = [row for record in found.iter_rows(named=True) if (row := _row(record))]
    later = last_progress(scalars)
    for row in facts.filter(pl.col("key").is_in(_GOES_ON)).iter_rows(named=True):
        later.setdefault((row["worker"], row["attempt"]), []).append(row)
    last = {(row["worker"], row["attempt"], row["source"]): row for row in rows}
    for (worker, attempt, _), row in last.items():
        later.setdefault((worker, attempt), []).append(row)
    for row in rows:
        behind = later[row["worker"], row["attempt"]] if row["worker"] else ()  # else others speak there, too
        row["final"] = not any(comes_after(each, row) for each in behind)
    return frame("exceptions", rows)


def _row(record: Mapping[str, Any]) -> dict[str, Any] | None:
    text = record["text"]
    raised = _take_apart(text)
    if raised is None:
        return None
    kind, message, at = raised
    frames = text[:at]
    place = {key: record[key] for key in ("worker", "attempt", "source")}
    return place | {
        "line": line_at(record, at),
        "time": record["near"],
        "until": record["until"],
        "type": kind,
        "message": _DEFINED_AT.sub("", message)[:2_000],
        "says": text[at:].partition("\n")[0],
        "own": not _passed_on(kind, text),
        "frame": _users_frame(frames[frames.rfind("Traceback") :]),
        "via": next((via for via, pattern in _VIA if re.search(pattern, text)), None),
    }


def _take_apart(text: str) -> tuple[str, str, int] | None:
    """Class and message of the exception that ended a traceback (the last of a chain), and its position."""
    heads = list(_HEAD.finditer(text))
    begin = heads[-1].start() if heads else 0
    if text.startswith("Fatal Python error: ", begin):
        return "FatalPythonError", text[begin:].partition("\n")[0].partition(": ")[2], begin
    ending = _ENDING.search(text, text.find("\n", begin) + 1 or len(text))
    match = _NAME.match(text, ending.start()) if ending else None
    return (match["type"], (match["message"] or "").strip(), match.start()) if match else None


def _passed_on(kind: str, text: str) -> bool:
    if kind in _NOT_OWN or any(mark in text for mark in PASSED_ON):
        return True
    return "errors_impl" in text and any(mark in text for mark in _TRANSPORT)


def _users_frame(frames: str) -> str | None:
    own = [match for match in _FRAME.finditer(frames) if not _LIBRARY.search(match["path"])]
    if not own:
        return None
    deepest = own[-1]
    return f"{deepest['path']}:{deepest['line']}" + (f" in {deepest['name']}" if deepest["name"] else "")
