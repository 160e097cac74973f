"""Drafts a rule from an unexplained run, using the lines that distinguish one worker.

These are warnings, errors and tracebacks of one worker only or after the last common step; without any, the
last plain lines that only one of several workers has. Lines that a rule already matches are used only if
nothing else is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import polars as pl

from analyzer.engine.authoring.draft_text import Spoken, spelled
from analyzer.model.log_template import template_of
from analyzer.model.run import Tables
from analyzer.tables.common_steps import last_common_lines

MOST_LINES = 3
"""Lines that a draft looks for; more would only fit the one run."""
_AROUND = 3
"""Other lines of a worker that its case shows."""
_LONGEST_TRACEBACK = 30
_ANY_STEP = "step 1 loss 0.5"
_Row = dict[str, object]


class Telling(NamedTuple):
    """A record that may show the cause, and its weight."""

    worker: str
    source: str
    line: int
    text: str
    said: str
    mask: str
    score: int


def draft(tables: Tables, run: str, rule_id: str) -> str | None:
    """Return a rule file with texts to fill in; None if no line distinguishes a worker."""
    found = _telling(tables, _alarming(tables)) or _telling(tables, _last_plain(tables))
    if not found:
        return None
    best = max(found, key=lambda each: each.score)
    chosen = _most_telling(found, best)
    ordinary = _routine_lines(tables, {each.mask for each in found}, chosen[0])
    own = ordinary.pop(best.worker)
    # First what tells, then the rest: behind a closing line it would count as printed after the end.
    fires = {best.worker: [*(_shortened(each.text) for each in chosen), *own], **ordinary}
    quiet = {best.worker: own, **ordinary}
    return spelled(rule_id, run, best.worker, [Spoken(each.said, each.mask) for each in chosen], fires, quiet)


def _most_telling(found: Iterable[Telling], best: Telling) -> list[Telling]:
    """Return the most informative lines of the worker, without repetitions, in log order."""
    once: dict[str, Telling] = {}
    for each in found:
        if each.worker == best.worker and each.source == best.source and each.score >= best.score - 1:
            once.setdefault(each.mask, each)
    foremost = sorted(once.values(), key=lambda each: (-each.score, each.line))[:MOST_LINES]
    return sorted(foremost, key=lambda each: each.line)


def _alarming(tables: Tables) -> list[_Row]:
    """Select warnings, errors and tracebacks."""
    return _before_the_end(tables, pl.col("level").is_in(["W", "E", "F"]) | (pl.col("kind") == "traceback"))


def _last_plain(tables: Tables) -> list[_Row]:
    """Return the last plain lines that only one of several workers has."""
    by_worker: dict[str, set[object]] = {}
    rows = _before_the_end(tables, pl.col("kind") == "plain")
    for row in rows:
        by_worker.setdefault(template_of(_error_line(str(row["text"]))), set()).add(row["worker"])
    own: dict[object, list[_Row]] = {}
    for row in rows:
        if len(by_worker[template_of(_error_line(str(row["text"])))]) == 1:
            own.setdefault(row["source"], []).append(row)
    several = tables["records"]["worker"].drop_nulls().n_unique() > 1
    return [row for lines in own.values() for row in lines[-MOST_LINES:]] if several else []


def _before_the_end(tables: Tables, wanted: pl.Expr) -> list[_Row]:
    ends = dict(tables["lifetimes"].select("end_source", "end_line").drop_nulls().iter_rows())
    rows = tables["records"].filter(wanted & pl.col("worker").is_not_null()).to_dicts()
    return [row for row in rows if row["line"] <= ends.get(row["source"], row["line"])]


def _telling(tables: Tables, rows: Sequence[_Row]) -> list[Telling]:
    """Return the records that only one worker has, or that follow the last common step."""
    known, raised = _places(tables["matches"]), _places(tables["exceptions"].filter("own"))
    last = last_common_lines(tables["scalars"])
    said = {id(row): (line := _error_line(str(row["text"])), template_of(line)) for row in rows}
    workers: dict[str, set[object]] = {}
    for row in rows:
        workers.setdefault(said[id(row)][1], set()).add(row["worker"])
    unheard = [row for row in rows if not _covers(row, known)]
    made = []
    for row in unheard or rows:
        line, mask = said[id(row)]
        only, after = (
            len(workers[mask]) == 1,
            int(str(row["line"])) > last.get((str(row["worker"]), str(row["source"])), 1 << 60),
        )
        severe = row["level"] in {"E", "F"} or row["kind"] == "traceback"
        score = 2 * only + 2 * after + severe + 2 * _covers(row, raised)
        if (only or after) and Spoken(line, mask).literal:
            made.append(_as_telling(row, line, mask, score))
    return made


def _as_telling(row: _Row, said: str, mask: str, score: int) -> Telling:
    return Telling(
        str(row["worker"]), str(row["source"]), int(str(row["line"])), str(row["text"]), said, mask, score
    )


def _places(table: pl.DataFrame) -> dict[str, list[int]]:
    """Return source → its lines that a table refers to."""
    places: dict[str, list[int]] = {}
    for source, line in table.select("source", "line").drop_nulls().iter_rows():
        places.setdefault(source, []).append(line)
    return places


def _covers(row: _Row, places: dict[str, list[int]]) -> bool:
    first, last = int(str(row["line"])), int(str(row["last_line"]))
    return any(first <= line <= last for line in places.get(str(row["source"]), ()))


def _error_line(text: str) -> str:
    """Return the line of a record that names the error: the first, or a traceback's last."""
    lines = [line for line in text.splitlines() if line.strip()] or [""]
    if "Traceback (most recent call last)" not in text:
        return lines[0]
    ends = [line for line in lines if line[0] not in " \t|+^" and "Traceback (" not in line]
    return next((line for line in reversed(ends) if ":" in line), lines[-1])


def _routine_lines(tables: Tables, telling: set[str], first: Telling) -> dict[str, list[str]]:
    """Return worker → some routine lines of its log, for the case that must not fire.

    A worker without any gets a line of progress, so that the case has a log of each worker.
    """
    plain = tables["records"].filter(
        pl.col("worker").is_not_null() & pl.col("kind").is_in(["plain", "progress"])
    )
    workers = tables["records"]["worker"].drop_nulls().unique(maintain_order=True)
    kept: dict[str, list[str]] = {worker: [] for worker in workers}
    for row in plain.iter_rows(named=True):
        behind = row["source"] == first.source and row["line"] > first.line
        if not behind and template_of(_error_line(row["text"])) not in telling and row["text"].isprintable():
            kept[row["worker"]].append(row["text"][:400])
    return {worker: lines[-_AROUND:] or [_ANY_STEP] for worker, lines in kept.items()}


def _shortened(text: str) -> str:
    """Shorten a long traceback by its middle."""
    lines: Sequence[str] = text.splitlines()
    if len(lines) > _LONGEST_TRACEBACK:
        lines = [*lines[:3], *lines[-_LONGEST_TRACEBACK + 3 :]]
    return "\n".join(lines)
