"""Errors of closures that a `ClusterCoordinator` logs, and raises from its next call, if one follows."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

_OF_CLOSURE = re.compile(
    r"[^\n]* encountered the following error when processing closure: (?P<type>\w+)\([^\n]*?\): ?"
)
"""Regex of what a ClusterCoordinator logs of the error that it raises from its next call."""
_CUT = "Graph execution error:"
"""What is left of a message of TensorFlow of which only the heading was kept."""
_MAX_LINES = 60
"""Most lines below the first that are read as its message."""


def closures(records: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the first error that each coordinator's log quotes, as a record that begins with its name.

    Its message has lines of any form, up to the next line of a logger.
    """
    quoting = records.filter(
        pl.col("text").str.contains("encountered the following error when processing closure", literal=True)
    )
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
    rows: Sequence[dict[str, Any]], of_closures: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return the exceptions with those that a coordinator only logged.

    A traceback of which only the heading was kept gets the message that the coordinator logged.
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
        kept += [] if raised else [closure]
    return sorted(kept, key=lambda row: (row["source"], row["line"])) if len(kept) > len(rows) else kept
