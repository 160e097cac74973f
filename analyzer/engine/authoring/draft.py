"""Drafts a rule from an unexplained run, using the lines that distinguish one worker.

Candidates are warnings, errors and tracebacks that only one worker has, or that follow the last common step;
if there are none, the last plain lines that only one of several workers has. Lines that a rule matches
already are used only if no others are left.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from analyzer.engine.authoring.draft_text import LineTemplate, rule_text
from analyzer.model.log_template import template_of
from analyzer.model.run import Tables
from analyzer.tables.common_steps import last_common_lines
from analyzer.tables.grouping import grouped, only_values

MAX_LINES = 3
"""Maximum number of lines that a draft looks for; more would fit only the one run."""
_MAX_ROUTINE_LINES = 3
"""Maximum number of routine lines per worker in a case."""
_LONGEST_TRACEBACK = 30
_ANY_STEP = "step 1 loss 0.5"
_Row = Mapping[str, Any]


class Clue(NamedTuple):
    """A record that may show the cause: the line that names the error, its template, and its score."""

    row: _Row
    line: str
    template: str
    score: int


def draft(
    tables: Tables, run: str, rule_id: str, explains: Sequence[str] = (), culprits: Sequence[str] = ()
) -> str | None:
    """Return a rule file with texts to fill in; None if no line distinguishes a worker.

    `explains` are causes found in the run which the new rule is to explain. The lines are those of the run's
    `culprits`; if they have none, those of another worker, and the rule blames nobody.
    """
    alarming = pl.col("level").is_in(["W", "E", "F"]) | (pl.col("kind") == "traceback")
    found = _clues(tables, _before_the_end(tables, alarming)) or _clues(tables, _last_plain(tables))
    if not found:
        return None
    found = [each for each in found if each.row["worker"] in culprits] or found
    best = max(found, key=lambda each: each.score)
    chosen = _best_clues(found, best)
    quiet = _routine_lines(tables, {each.template for each in found}, chosen[0].row)
    said = _said_by_worker(found, chosen)
    fires = {worker: [*routine, *said.get(worker, ())] for worker, routine in quiet.items()}
    lines = [LineTemplate(each.line, each.template) for each in chosen]
    silent = () if best.row["worker"] in culprits else culprits
    return rule_text(rule_id, run, [*said], lines, fires, quiet, explains, silent)


def _said_by_worker(found: Iterable[Clue], chosen: Sequence[Clue]) -> Mapping[str, Sequence[str]]:
    """Return worker → its first records of the chosen templates; the worker of `chosen` comes first."""
    templates = {each.template for each in chosen}
    first = {(str(each.row["worker"]), each.template): each.row for each in reversed([*found])}
    own = {(str(each.row["worker"]), each.template): each.row for each in chosen}
    rows = {**own, **{key: row for key, row in first.items() if key[1] in templates and key not in own}}
    said = grouped((worker, row) for (worker, _), row in rows.items())
    return {
        worker: [_shortened(row["text"]) for row in sorted(records, key=lambda row: int(row["line"]))]
        for worker, records in said.items()
    }


def _best_clues(found: Iterable[Clue], best: Clue) -> list[Clue]:
    """Return the records to draft from: those with the highest scores in the log of `best`, in log order."""
    once: dict[str, Clue] = {}
    for each in found:
        same_log = all(each.row[key] == best.row[key] for key in ("worker", "source"))
        if same_log and each.score >= best.score - 1:
            once.setdefault(each.template, each)
    foremost = sorted(once.values(), key=lambda each: (-each.score, each.row["line"]))[:MAX_LINES]
    return sorted(foremost, key=lambda each: int(each.row["line"]))


def _last_plain(tables: Tables) -> list[_Row]:
    """Return the last plain lines that only one of several workers has."""
    rows = _before_the_end(tables, pl.col("kind") == "plain")
    templates = [template_of(_error_line(row["text"])) for row in rows]
    of_one = only_values((each, row["worker"]) for row, each in zip(rows, templates, strict=True))
    alone = (row for row, each in zip(rows, templates, strict=True) if each in of_one)
    own = grouped((row["source"], row) for row in alone)
    several = tables["records"]["worker"].drop_nulls().n_unique() > 1
    return [row for lines in own.values() for row in lines[-MAX_LINES:]] if several else []


def _before_the_end(tables: Tables, wanted: pl.Expr) -> list[_Row]:
    """Return the wanted records, without those below the line with which their worker ended."""
    ends = dict(tables["lifetimes"].select("end_source", "end_line").drop_nulls().iter_rows())
    rows: list[_Row] = [*tables["records"].filter(wanted & pl.col("worker").is_not_null()).to_dicts()]
    return [row for row in rows if row["line"] <= ends.get(row["source"], row["line"])]


def _clues(tables: Tables, rows: Sequence[_Row]) -> list[Clue]:
    """Return a clue for each record that only one worker has, or that follows the last common step.

    Those that no rule knows yet; if there are none, those that some rule knows.
    """
    known, raised = _lines_by_source(tables["matches"]), _lines_by_source(tables["exceptions"].filter("own"))
    last = last_common_lines(tables["scalars"])
    lines = [_error_line(row["text"]) for row in rows]
    templates = [template_of(line) for line in lines]
    of_one = only_values((each, row["worker"]) for row, each in zip(rows, templates, strict=True))
    made: list[Clue] = []
    for row, line, template in zip(rows, lines, templates, strict=True):
        only = template in of_one
        after = row["line"] > last.get((row["worker"], row["source"]), 1 << 60)
        severe = row["level"] in {"E", "F"} or row["kind"] == "traceback"
        score = 2 * only + 2 * after + severe + 2 * _covers(row, raised)
        if (only or after) and LineTemplate(line, template).literal:
            made.append(Clue(row, line, template, score))
    return [each for each in made if not _covers(each.row, known)] or made


def _lines_by_source(table: pl.DataFrame) -> dict[str, list[int]]:
    """Return source → the numbers of its lines that a table refers to."""
    return grouped(table.select("source", "line").drop_nulls().iter_rows())


def _covers(row: _Row, places: dict[str, list[int]]) -> bool:
    return any(row["line"] <= line <= row["last_line"] for line in places.get(row["source"], ()))


def _error_line(text: str) -> str:
    """Return the line of a record that names the error: the first, or a traceback's last."""
    lines = [line for line in text.splitlines() if line.strip()] or [""]
    if "Traceback (most recent call last)" not in text:
        return lines[0]
    ends = [line for line in lines if line[0] not in " \t|+^" and "Traceback (" not in line]
    return next((line for line in reversed(ends) if ":" in line), lines[-1])


def _routine_lines(tables: Tables, distinctive: set[str], first: _Row) -> dict[str, list[str]]:
    """Return worker → ordinary lines of its log, for the case of a drafted rule that must not fire.

    A worker without routine lines gets a line of progress, so that the case has a log of each worker.
    """
    plain = tables["records"].drop_nulls("worker").filter(pl.col("kind").is_in(["plain", "progress"]))
    workers = tables["records"]["worker"].drop_nulls().unique(maintain_order=True)
    kept: dict[str, list[str]] = {worker: [] for worker in workers}
    for row in plain.iter_rows(named=True):
        before = row["source"] == first["source"] and row["line"] < first["line"]
        routine = template_of(_error_line(row["text"])) not in distinctive and row["text"].isprintable()
        if routine and (before or row["worker"] != first["worker"]):
            kept[row["worker"]].append(row["text"][:400])
    return {worker: lines[-_MAX_ROUTINE_LINES:] or [_ANY_STEP] for worker, lines in kept.items()}


def _shortened(text: str) -> str:
    """Return a traceback, without its middle if it is longer than 30 lines."""
    lines: Sequence[str] = text.splitlines()
    if len(lines) > _LONGEST_TRACEBACK:
        lines = [*lines[:3], *lines[-_LONGEST_TRACEBACK + 3 :]]
    return "\n".join(lines)
