"""Errors of closures that a `ClusterCoordinator` logs, and raises from its next call, if one follows."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from analyzer.model.messages import Wording

_OF_CLOSURE = re.compile(
    r"[^\n]* encountered the following error when processing closure: (?P<type>\w+)\([^\n]*?\): ?"
)
"""Regex of what a ClusterCoordinator logs of the error that it raises from its next call."""
_QUOTES = "encountered the following error when processing closure"
_CUT = "Graph execution error:"
"""What is left of a message of TensorFlow of which only the heading was kept."""
_COMPARED = 200
"""Characters at the beginning of two messages that must be equal for them to be the same."""
_MAX_LINES = 60
"""Most lines below the first that are read as its message."""


def closures(records: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the first error that each coordinator's log quotes, as a record that begins with its name.

    Its message has lines of any form, up to the next line of a logger.
    """
    quoting = records.filter(pl.col("text").str.contains(_QUOTES, literal=True))
    for first in quoting.unique(["worker", "attempt", "source"], keep="first", maintain_order=True).iter_rows(
        named=True
    ):
        text, last = first["text"], first["last_line"]
        below = records.filter(
            (pl.col("line") > last) & (pl.col("line") < last + _MAX_LINES), source=first["source"]
        )
        for each in below.sort("line").iter_rows(named=True):
            if each["kind"] != "plain" or each["level"]:
                break
            text, last = text + "\n" * (each["line"] - last) + each["text"], each["last_line"]
        if head := _OF_CLOSURE.match(text):
            yield first | {"text": f"{head['type']}: {text[head.end() :]}", "quoted": text}


def with_closures(
    rows: Sequence[dict[str, Any]], of_closures: Sequence[dict[str, Any]], answered: Wording
) -> list[dict[str, Any]]:
    """Return exceptions and closure errors in one list, ordered by log and line.

    An error that the coordinator logged is left out if its log raises an exception below it. If that
    exception lacks its message, it gets the logged one. It counts as the coordinator's own if it has the same
    message, also where Keras removed the coordinator's frames from the traceback.
    """
    kept = [*rows]
    for closure in of_closures:
        log = closure["worker"], closure["attempt"], closure["source"]
        raised = [
            row
            for row in rows
            if (row["worker"], row["attempt"], row["source"]) == log and row["line"] > closure["line"]
        ]
        for row in raised:
            if row["type"] == closure["type"] and row["message"] in {"", _CUT}:
                row |= {key: closure[key] for key in ("message", "own")}
            elif _answers(closure, row, answered):
                row["own"] |= closure["own"]
        kept += [] if raised else [closure]
    return sorted(kept, key=lambda row: (row["source"], row["line"])) if len(kept) > len(rows) else kept


def _answers(closure: Mapping[str, Any], row: Mapping[str, Any], answered: Wording) -> bool:
    """Return True if a traceback raises a closure's error, and the task that ran it answered with that error.

    The message begins with the one that was logged, of which a logger of JSON may keep one line.
    """
    shown, logged = (" ".join(each["message"].split()) for each in (row, closure))
    is_same = logged in {"", _CUT} or shown.startswith(logged[:_COMPARED])
    of_type = row["type"] == closure["type"] and answered.is_in(f"{_QUOTES}: {closure['type']}()")
    return is_same and of_type
