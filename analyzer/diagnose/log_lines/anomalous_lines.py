"""Finds anomalous lines: of one worker only, after the last common step, or in no healthy recording.

Lines are compared as templates: numbers, addresses, paths and tasks are masked.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import polars as pl

from analyzer.diagnose.log_lines.lines import numbered
from analyzer.model.contract import EvidencePlace
from analyzer.model.lazy_regex import lazy_regex
from analyzer.model.log_template import template_of, undated_template
from analyzer.model.placeholders import shorten
from analyzer.model.run import Tables
from analyzer.storage.package_files import resource
from analyzer.tables.common_steps import last_common_lines
from analyzer.tables.grouping import grouped

MAX_ODD_LINES = 8
_MAX_RECORDS, _MAX_LINE_CHARS = 4_000, 400
_WEIGHTS = {"F": 3, "E": 3, "W": 1}
_PASSED_ON = lazy_regex(
    r"aborted by|Abort(?:ing\b|$|\s)|StartAbort|remote target|is aborting with|\[_Derived_\]|Socket closed"
    r"|Connection reset|Error reported from|previous operation"
)
"""Regex of messages that a worker prints because it lost a peer."""


class RecordLine(NamedTuple):
    """The line that stands for a record: `key` is its template; `late` if after the last common step."""

    key: str
    row: Mapping[str, Any]
    number: int
    text: str
    late: bool


class OddLine(NamedTuple):
    """A line and how it differs from those of other workers and of healthy runs."""

    line: RecordLine
    alone: bool
    new: bool
    unusual: bool
    stands_out: bool

    @property
    def weight(self) -> int:
        """Return a sort key: how anomalous the line is."""
        grave = _WEIGHTS.get(self.line.row["level"] or "", 0)
        passed_on = 6 if _PASSED_ON.search(self.line.text) else 0
        return 3 * self.new + 2 * self.alone + 2 * self.line.late + self.unusual + grave - passed_on


def odd_lines(
    tables: Tables,
    known: Collection[str] | None = None,
    shown: Collection[tuple[str | None, int | None]] = (),
    compared: str = "the good run",
) -> list[EvidencePlace]:
    """Return the most anomalous lines as evidence, most anomalous first.

    `known` are the undated templates of the run `compared`, `shown` the places (source, line) already shown.
    """
    several = len(set(tables["records"]["worker"].drop_nulls().to_list())) > 1
    groups = grouped_lines(tables["scalars"], tables["records"].filter(pl.col("worker").is_not_null()))
    lines = [odd_line(group, known, several=several) for group in groups.values()]
    odd = [e for e in lines if e.stands_out and (e.line.row["source"], e.line.number) not in shown]
    odd.sort(key=lambda each: (-each.weight, each.line.row["near"] or 0.0, each.line.number))
    lacking = f"not in {compared}" if known is not None else ""
    return [evidence_of(each, lacking) for each in odd[:MAX_ODD_LINES]]


def grouped_lines(scalars: pl.DataFrame, records: pl.DataFrame) -> dict[str, list[RecordLine]]:
    """Return template → the lines of the records with that template, one line per record."""
    return grouped((line.key, line) for line in _lines(scalars, records))


def odd_line(group: Sequence[RecordLine], known: Collection[str] | None = None, *, several: bool) -> OddLine:
    """Return the template's first line with its anomalies; `several`: at least two workers have logs."""
    line = group[0]
    alone = several and len({each.row["worker"] for each in group}) == 1
    unusual = line.key not in healthy_lines()
    level = line.row["level"]
    if known is not None:
        return OddLine(
            line, alone, new=True, unusual=unusual, stands_out=undated_template(line.text) not in known
        )
    odd = line.late or (alone and level != "I") or (unusual and level in _WEIGHTS)
    return OddLine(line, alone, new=False, unusual=unusual, stands_out=odd)


@cache
def healthy_lines() -> frozenset[str]:
    """Return the line templates of the healthy recordings, from `rules/healthy_lines.txt`."""
    return frozenset(resource("rules", "healthy_lines.txt").read_text(encoding="utf-8").splitlines())


def _lines(scalars: pl.DataFrame, records: pl.DataFrame) -> Iterator[RecordLine]:
    after = last_common_lines(scalars)
    logged = records.filter(pl.col("kind") != "progress").group_by("worker", maintain_order=True)
    for row in logged.tail(_MAX_RECORDS).iter_rows(named=True):
        lines = [each for each in numbered(row) if each[1].strip()]
        if lines:
            number, text = lines[-1] if row["kind"] == "traceback" else lines[0]
            step = after.get((row["worker"], row["source"]))
            yield RecordLine(template_of(text), row, number, text, step is not None and number > step)


def evidence_of(odd: OddLine, lacking: str = "") -> EvidencePlace:
    """Return the line as evidence, whose text states why it is anomalous; `lacking` is a further reason."""
    row = odd.line.row
    reasons = [
        *([f"only {row['worker']} logged it"] if odd.alone else []),
        *(["after the last common step"] if odd.line.late else []),
        *([lacking] if lacking else []),
        *(["not seen in any known healthy run"] if odd.unusual and row["level"] in _WEIGHTS else []),
    ]
    return {
        "says": ", ".join(reasons),
        "kind": "line",
        "worker": row["worker"],
        "source": row["source"],
        "line": odd.line.number,
        "excerpt": shorten(odd.line.text, _MAX_LINE_CHARS),
        "marks": [],
        "time": row["time"],
        "context": [],
    }
