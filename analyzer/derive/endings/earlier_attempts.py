"""Says how the attempts of a worker before its last one ended."""

from collections.abc import Iterator
from typing import Any

import polars as pl

from analyzer.derive.endings.lifetimes import signal_name
from analyzer.model.placeholders import shorten
from analyzer.tables.builders import frame

_MAX_MESSAGE = 160
_ENDED = {"sigterm": "was ended by SIGTERM", "ended_by_scheduler": "was ended by the scheduler ({})"}
"""Key of a fact that says who ended a process → how the attempt ended; the scheduler's word counts first."""
_KEY = ("worker", "attempt")


def earlier_attempts(
    lifetimes: pl.DataFrame, exceptions: pl.DataFrame, facts: pl.DataFrame, records: pl.DataFrame
) -> pl.DataFrame:
    """Return one row per attempt before a worker's last one, if a file shows something of it."""
    last = lifetimes.filter(pl.col("attempts") > 1).select("worker", of="attempts")
    if last.is_empty():
        return frame("earlier_attempts", ())

    def of_earlier(rows: pl.DataFrame) -> dict[tuple[str, int], dict[str, Any]]:
        own = rows.join(last, on="worker", maintain_order="left").filter(pl.col("attempt") < pl.col("of"))
        ends = own.group_by(_KEY, maintain_order=True).last()
        return {(row["worker"], row["attempt"]): row for row in ends.iter_rows(named=True)}

    raised = of_earlier(exceptions.filter("final"))
    codes = of_earlier(facts.filter(pl.col("value") != "running", key="exit_code"))
    told = of_earlier(facts.filter(pl.col("key").is_in([*_ENDED])).sort("key", descending=True))
    lines = of_earlier(
        records.filter(pl.col("text").str.contains(r"^\S.*\w") | (pl.col("kind") == "progress"))
    )
    rows = (
        _row(raised.get(key), codes.get(key), told.get(key), lines.get(key))
        for key in sorted({*raised, *codes, *told, *lines}, key=lambda key: (key[0], -key[1]))
    )
    return frame("earlier_attempts", rows)


def _row(
    raised: dict[str, Any] | None,
    code: dict[str, Any] | None,
    told: dict[str, Any] | None,
    line: dict[str, Any] | None,
) -> dict[str, Any]:
    """Return the row of an attempt: at its exception, exit code, message of its end, or last line."""
    shown = raised or code or told or line or {}
    place = raised["message_line"] or raised["line"] if raised else shown["line"]
    by_others = _ENDED[told["key"]].format(told["value"]) if told else "ended with no error in its log"
    with_what = ", ".join(_how(raised, code))
    how = f"ended with {with_what}" if with_what else by_others
    own = {key: shown[key] for key in ("worker", "attempt", "of", "source", "time")}
    return {**own, "line": place, "passed_on": bool(raised and not raised["own"]), "how": how}


def _how(raised: dict[str, Any] | None, code: dict[str, Any] | None) -> Iterator[str]:
    if raised:
        first = raised["message"].partition("\n")[0]
        yield shorten(f"{raised['type']}: {first}".rstrip(": "), _MAX_MESSAGE)
    if code and not (raised and code["value"] == "1"):
        number = int(code["value"])
        yield signal_name(number) or f"exit code {number}"
