"""Findings → Diagnosis: what explains what, which cause stands, and what follows from it."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.diagnose.baseline_diff import BaselineRun as BaselineRun
from analyzer.diagnose.decide import cap_guessed, cap_old_tensorflow, decide
from analyzer.diagnose.document import document
from analyzer.diagnose.relate import relate
from analyzer.model.contract import MadeWith
from analyzer.model.diagnosis import Diagnosis
from analyzer.model.findings import Finding
from analyzer.model.run import Tables


def diagnose(
    name: str,
    findings: Sequence[Finding],
    tables: Tables,
    made_with: MadeWith,
    good: BaselineRun | None = None,
) -> Diagnosis:
    """The diagnosis of the run `name`, compared with a good run where one is given; it quotes `made_with`."""
    related = relate(findings)
    capped, decision = cap_guessed(related, decide(related, tables), tables["workers"])
    capped, decision = cap_old_tensorflow(capped, decision, tables["job"])
    return Diagnosis(document(name, decision, capped, tables, made_with, good))
