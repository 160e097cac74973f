"""Converts findings to their form in the output document, with context lines."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any, cast

from analyzer.diagnose.log_lines.last_lines import with_last_lines
from analyzer.diagnose.log_lines.lines import LineTexts
from analyzer.model.contract import EvidencePlace, FindingReport
from analyzer.model.findings import Evidence, Finding
from analyzer.model.placeholders import shorten
from analyzer.model.run import Tables

_LINES_ABOVE, _LINE_CHARACTERS, _SHORTEST_QUOTE = 3, 400, 6


def finding_reports(findings: Sequence[Finding], tables: Tables) -> list[FindingReport]:
    """Return the findings as reports; each line of evidence carries the log lines above it.

    Where a finding rests on the silence of a worker, its evidence has the last line of that worker's log.
    """
    findings = with_last_lines(findings, tables)
    places = [place for finding in findings for place in finding.evidence]
    lines = LineTexts(tables, {place.source for place in places if place.source and place.line})
    return [_finding(finding, lines) for finding in findings]


def _finding(finding: Finding, lines: LineTexts) -> FindingReport:
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
        "evidence": [_evidence(each, lines) for each in _merged(_quoted(finding.evidence, lines))],
        "explained_by": list(finding.explained_by),
        "contradicted_by": list(finding.contradicted_by),
        "collect": list(finding.collect),
        "references": list(finding.references),
    }


def _quoted(evidence: Iterable[Evidence], lines: LineTexts) -> list[Evidence]:
    """Return the evidence that has a statement or a quotation; each line of a log gets its text."""
    return [
        each._replace(excerpt=lines.at(each.source, each.line)) if each.line and not each.excerpt else each
        for each in evidence
        if each.says or each.excerpt
    ]


def _merged(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Return the evidence with entries of one place merged, and no event file that repeats a log line."""
    marked = {(each.source, each.line): each.excerpt for each in evidence if each.marks}
    logged = {(each.worker, each.says) for each in evidence if each.line}
    places: dict[tuple[Any, ...], Evidence] = {}
    for each in evidence:
        if each.source and not each.line and (each.worker, each.says) in logged:
            continue
        line = (each.source, each.line)
        excerpt = each.excerpt if each.marks else marked.get(line, each.excerpt)
        rest = (each.worker, each.says) if None in line else (excerpt,)
        place = (each.kind, *line, *rest)
        known = places.get(place)
        places[place] = _combined(known, each) if known else each
    return list(places.values())


def _combined(one: Evidence, other: Evidence) -> Evidence:
    repeated = _repeats(other.says, one.says)
    says = one.says if repeated else "; ".join(filter(None, (one.says, other.says)))
    signals = tuple(dict.fromkeys((*one.signals, *other.signals)))
    excerpt = one.excerpt if one.marks else other.excerpt
    marks = tuple(sorted({*one.marks, *other.marks}))
    worker = one.worker or other.worker
    return one._replace(says=says, signals=signals, worker=worker, excerpt=excerpt, marks=marks)


def _repeats(statement: str, before: str) -> bool:
    """Return True if the statements `before` include this one, or quote the same words after a colon."""
    shorter, longer = sorted((statement.partition(": ")[2], before.partition(": ")[2]), key=len)
    return f"; {statement};" in f"; {before};" or (len(shorter) >= _SHORTEST_QUOTE and shorter in longer)


def _evidence(evidence: Evidence, lines: LineTexts) -> EvidencePlace:
    made = cast(EvidencePlace, evidence._asdict())
    made["marks"] = [list(mark) for mark in evidence.marks or _quoted_words(evidence)]
    made["signals"] = [name.replace("_", " ") for name in evidence.signals]
    above = lines.above(evidence.source, evidence.line, _LINES_ABOVE) if evidence.line else []
    made["context"] = [[number, shorten(text, _LINE_CHARACTERS)] for number, text in above]
    return made


def _quoted_words(evidence: Evidence) -> Iterator[tuple[int, int]]:
    """Yield (start, end) in the excerpt of the words that `says` quotes after a colon, if they are there."""
    statement = evidence.says
    ends = [len(statement), *(semicolon.start() for semicolon in reversed([*re.finditer("; ", statement)]))]
    for colon, end in product(re.finditer(": ", statement), ends):
        words = statement[colon.end() : end].strip(" …")
        start = evidence.excerpt.find(words) if len(words) >= _SHORTEST_QUOTE else -1
        if start >= 0:
            yield start, start + len(words)
            return
