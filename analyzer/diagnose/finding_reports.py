"""Converts findings to their form in the output document, with context lines."""

from collections.abc import Iterable, Sequence
from typing import Any, cast

import polars as pl

from analyzer.diagnose.log_lines.lines import Lines
from analyzer.model.contract import EvidencePlace, FindingReport
from analyzer.model.findings import Evidence, Finding

_LINES_ABOVE, _LINE_CHARACTERS = 3, 400


def finding_reports(findings: Sequence[Finding], records: pl.DataFrame) -> list[FindingReport]:
    """Return the findings as reports; each line of evidence carries the log lines above it."""
    places = [place for finding in findings for place in finding.evidence]
    lines = Lines(records, {place.source for place in places if place.source and place.line})
    return [_finding(finding, lines) for finding in findings]


def _finding(finding: Finding, lines: Lines) -> FindingReport:
    return {
        "rule": finding.rule,
        "title": finding.title,
        "role": finding.role.value,
        "cause": finding.cause,
        "outcome": finding.outcome.value,
        "reason": finding.reason,
        "lacks": finding.lacks,
        "confidence": finding.confidence,
        "workers": list(finding.about),
        "summary": finding.summary,
        "why": list(finding.why),
        "reckoned": list(finding.confidence_trace),
        "evidence": [_evidence(each, lines) for each in _merged(finding.evidence)],
        "explained_by": list(finding.explained_by),
        "contradicted_by": list(finding.contradicted_by),
        "collect": list(finding.collect),
        "references": list(finding.references),
    }


def _merged(evidence: Iterable[Evidence]) -> list[Evidence]:
    """Return the evidence with entries of the same place merged, without entries that have no text."""
    places: dict[tuple[Any, ...], Evidence] = {}
    for each in evidence:
        if not each.says and not each.excerpt:
            continue
        is_line = each.source is not None and each.line is not None
        place = (each.kind, each.source, each.line, each.worker, each.excerpt, "" if is_line else each.says)
        known = places.get(place)
        places[place] = _combined(known, each) if known else each
    return list(places.values())


def _combined(one: Evidence, other: Evidence) -> Evidence:
    says = "; ".join(dict.fromkeys(filter(None, (*one.says.split("; "), other.says))))
    signals = tuple(dict.fromkeys((*one.signals, *other.signals)))
    return one._replace(says=says, signals=signals, marks=tuple(sorted({*one.marks, *other.marks})))


def _evidence(evidence: Evidence, lines: Lines) -> EvidencePlace:
    made = cast(EvidencePlace, evidence._asdict())
    made["marks"] = [list(mark) for mark in evidence.marks]
    made["signals"] = [name.replace("_", " ") for name in evidence.signals]
    if evidence.line and not evidence.excerpt:
        made["excerpt"] = lines.at(evidence.source, evidence.line)
    above = lines.above(evidence.source, evidence.line, _LINES_ABOVE) if evidence.line else []
    made["context"] = [[number, text[:_LINE_CHARACTERS]] for number, text in above]
    return made
