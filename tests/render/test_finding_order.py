"""The order in which findings, evidence and unread files are shown."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.render.finding_order import incomplete_sources, leading_evidence, unique_evidence


def finding(rule: str, role: str, *lines: int) -> dict[str, Any]:
    """A fired finding with evidence on some lines."""
    place: dict[str, Any] = {
        "source": f"{rule}.log",
        "kind": "line",
        "worker": None,
        "excerpt": "x",
        "marks": [],
    }
    told = [{**place, "line": n, "says": f"{rule} {n % 10}"} for n in lines]
    return {"rule": rule, "role": role, "outcome": "fired", "evidence": told}


def test_all_evidence_of_the_verdict_leads_and_one_of_each_other_finding_follows() -> None:
    """Causes before symptoms, at most as many as asked for; context proves nothing.

    What another line of the file says again is not repeated.
    """
    findings = [
        finding("seen", "symptom", 1, 2),
        finding("noted", "context", 1),
        finding("also", "cause", 1, 2),
        finding("chosen", "cause", 1, 2, 11),
    ]
    diagnosis = {"rule": "chosen", "findings": findings}
    places = [(place["source"], place["line"]) for place in leading_evidence(diagnosis, 9)]
    assert places == [("chosen.log", 1), ("chosen.log", 2), ("also.log", 1), ("seen.log", 1)]
    assert len(leading_evidence(diagnosis, 3)) == 3


def test_files_read_in_part_come_before_those_left_out() -> None:
    """A file that was read completely is not named, nor one that nothing reads."""
    sources = [
        {"name": "a.log", "read": "skipped", "reason": "too large"},
        {"name": "b.log", "read": "complete", "reason": ""},
        {"name": "c.log", "read": "partial", "reason": "cut short"},
        {"name": "d.png", "read": "skipped", "reason": "no reader for this kind of file"},
    ]
    assert [name for name, _ in incomplete_sources({"sources": sources})] == ["c.log", "a.log"]


@pytest.mark.parametrize(("line", "kept"), [("KeyError: 'x'", 1), ("step 3 loss nan", 2)])
def test_an_exception_that_a_chained_traceback_names_again_is_one_piece_of_evidence(
    line: str, kept: int
) -> None:
    """Whatever is said of it; other lines may be there twice for a reason."""
    evidence = [place | {"excerpt": line} for place in finding("raised", "cause", 73, 104)["evidence"]]
    assert len(unique_evidence(evidence)) == kept
