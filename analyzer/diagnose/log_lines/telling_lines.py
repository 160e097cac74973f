"""Selects log lines that hint at a cause when no rule found one, and the file that would confirm it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from analyzer.diagnose.advice.listed_as_running import listed_as_running
from analyzer.diagnose.advice.recipes import recipes
from analyzer.diagnose.log_lines.anomalous_lines import (
    OddLine,
    RecordLine,
    evidence_of,
    grouped_lines,
    odd_line,
)
from analyzer.diagnose.log_lines.lines import HEADING, numbered
from analyzer.model.contract import DecidingFile, PossibleCause, TellingLine
from analyzer.model.findings import Finding, Outcome, Role
from analyzer.model.log_template import template_of
from analyzer.model.run import Tables
from analyzer.model.source_kinds import Kind
from analyzer.storage.disk_cache import cached_yaml
from analyzer.tables.kinds_read import kinds_read

MAX_LINES = 3
FIRST, FURTHER = 0.3, 0.2
"""Confidence of a hint's first cause, and of its other causes; lower than that of any rule."""
_HINT, _END = 4, 1
_LAST_RECORDS = 20
"""Number of last records of a log that count as near its end."""


class Hint(NamedTuple):
    """Regex of words, what they usually mean, the possible causes, and the kind of file that confirms one."""

    words: re.Pattern[str]
    means: str
    causes: tuple[str, ...]
    decided_by: str


class Telling(NamedTuple):
    """An informative line: its anomalies, the hint that matches it, and whether it is near the log's end."""

    odd: OddLine
    hint: Hint | None
    near_end: bool

    @property
    def weight(self) -> int:
        """Return a sort key: lines with a hint first, then the most anomalous."""
        return self.odd.weight + _HINT * (self.hint is not None) + _END * self.near_end


@cache
def hints() -> tuple[Hint, ...]:
    """Return the hints of `hints.yaml`, in the order in which they are tried."""
    rows = cached_yaml(Path(__file__).with_name("hints.yaml"))
    return tuple(
        Hint(re.compile(row["words"]), row["means"], tuple(row["causes"]), row["decided_by"]) for row in rows
    )


def telling_lines(tables: Tables) -> list[Telling]:
    """Return the most informative lines, at most three, and no two with the same hint or template."""
    several = tables["records"]["worker"].drop_nulls().n_unique() > 1
    ends = _ends(tables)
    found = [
        telling
        for group in grouped_lines(tables["scalars"], tables["records"]).values()
        if (telling := _telling(group, several=several, ends=ends))
    ]
    kinds: dict[str, Telling] = {}
    for each in sorted(found, key=lambda each: (-each.weight, each.odd.line.row["near"] or 0.0)):
        kinds.setdefault(each.hint.means if each.hint else each.odd.line.key, each)
    return list(kinds.values())[:MAX_LINES]


def without_harmless(tables: Tables, findings: Sequence[Finding]) -> Tables:
    """Return the tables without the records whose first line is like one that a fired benign rule cites.

    A line that a note cites of several workers is left out, too: it tells no worker from another.
    """
    cited: dict[tuple[Role, str], set[str | None]] = {}
    for finding in findings:
        if finding.outcome is Outcome.FIRED and finding.role in {Role.BENIGN, Role.CONTEXT}:
            for place in finding.evidence:
                if place.excerpt:
                    cited.setdefault((finding.role, template_of(place.excerpt)), set()).add(place.worker)
    harmless = {line for (role, line), workers in cited.items() if role is Role.BENIGN or len(workers) > 1}
    records = tables["records"]
    if not harmless or records.is_empty():
        return tables
    kept = [template_of(text.partition("\n")[0]) not in harmless for text in records["text"]]
    return {**tables, "records": records.filter(pl.Series(kept, dtype=pl.Boolean))}


def described(found: Sequence[Telling], meanings: Mapping[str, str]) -> list[TellingLine]:
    """Return the section `telling_lines` of the document; `meanings` maps causes to what they mean."""
    return [
        {
            "line": evidence_of(each.odd),
            "means": each.hint.means if each.hint else "",
            "possible": list(_possible(each.hint, meanings)),
        }
        for each in found
    ]


def deciding_file(found: Sequence[Telling], tables: Tables) -> DecidingFile | None:
    """Return the missing kind of file that would help most and how to collect it; None if none is missing."""
    read = kinds_read(tables)
    wanted = [each.hint.decided_by for each in found if each.hint]
    missing, cut = tables["lifetimes"].filter(~pl.col("logged"))["worker"].to_list(), without_start(tables)
    kinds = [
        *(["log"] if missing or "log" not in read else []),
        *(kind for kind in wanted if kind not in {*read, "log"}),
        *(["log"] if cut else []),
    ]
    last = [] if listed_as_running(tables) else ["exit_codes"]
    kind = next((kind for kind in (*kinds, *last) if kind == "log" or kind not in read), None)
    recipe = recipes().get(kind or "")
    if kind is None or recipe is None:
        return None
    partly = missing or cut
    more = f" and {len(partly) - 3} more" if len(partly) > 3 else ""
    of_some = kind == "log" and partly
    what = f"the complete output of {', '.join(partly[:3])}{more}" if of_some else recipe.what
    return {"kind": kind, "what": what, "tells": recipe.tells, "how": recipe.how}


def without_start(tables: Tables) -> list[str]:
    """Return the workers with a log if none shows a step or the start-up, as in a pasted excerpt; else none.

    Workers that mwms-recorder recorded do not count: their logs have a start.
    """
    recorded = tables["sources"].filter(kind=Kind.RECORDING.value)["worker"].drop_nulls()
    logged = tables["lifetimes"].filter(pl.col("logged") & ~pl.col("worker").is_in(recorded.to_list()))
    return [] if logged["place"].is_not_null().any() else logged["worker"].to_list()


def _possible(hint: Hint | None, meanings: Mapping[str, str]) -> Iterator[PossibleCause]:
    for place, cause in enumerate(hint.causes if hint else ()):
        means = meanings.get(cause, cause)
        yield {"cause": cause, "means": means, "confidence": FURTHER if place else FIRST}


def _ends(tables: Tables) -> Mapping[tuple[str, str], int]:
    """Return (worker, source) → the line from which a record is near the end of that log."""
    logs = tables["records"].group_by("worker", "source").agg(pl.col("line").tail(_LAST_RECORDS).first())
    return {(str(worker), source): line for worker, source, line in logs.iter_rows()}


def _telling(
    group: Sequence[RecordLine], *, several: bool, ends: Mapping[tuple[str, str], int]
) -> Telling | None:
    """Return a template's first line with its hint, if any; None if the line is not informative."""
    odd = odd_line(group, several=several)
    decisive = _decisive(odd.line.row) if odd.unusual else None
    if decisive is None and not (odd.stands_out and _is_grave(odd)):
        return None
    number, text, hint = decisive or (odd.line.number, odd.line.text, None)
    last = group[-1].row
    near_end = last["line"] >= ends.get((str(last["worker"]), str(last["source"])), 0)
    return Telling(odd._replace(line=odd.line._replace(number=number, text=text)), hint, near_end)


def _is_grave(odd: OddLine) -> bool:
    """Return True for a warning, error or traceback whose line is not indented and more than a heading."""
    row, text = odd.line.row, odd.line.text
    return not (text[:1].isspace() or text.endswith(HEADING)) and (
        row["level"] in {"W", "E", "F"} or row["kind"] == "traceback"
    )


def _decisive(row: Mapping[str, Any]) -> tuple[int, str, Hint] | None:
    """Return (number, text, hint) of a record's first line that a hint matches; of a traceback, the last."""
    lines = numbered(row)
    for number, text in reversed(lines) if row["kind"] == "traceback" else lines:
        if hint := next((hint for hint in hints() if hint.words.search(text)), None):
            return number, text, hint
    return None
