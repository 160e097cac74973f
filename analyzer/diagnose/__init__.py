"""Builds the diagnosis from the findings: relates causes and effects, decides the verdict."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from analyzer.diagnose.comparison.baseline_diff import BaselineRun as BaselineRun
from analyzer.diagnose.cut_logs import with_cut_logs
from analyzer.diagnose.decide import capped, decide
from analyzer.diagnose.document import document
from analyzer.diagnose.explanations import relate
from analyzer.model.contract import MadeWith
from analyzer.model.findings import Finding
from analyzer.model.run import Diagnosis, Tables


def diagnose(
    name: str,
    findings: Sequence[Finding],
    tables: Tables,
    made_with: MadeWith,
    good: BaselineRun | None = None,
    renamed: Mapping[str, str] = MappingProxyType({}),
    meanings: Mapping[str, str] = MappingProxyType({}),
) -> Diagnosis:
    """Return the diagnosis of run `name`, compared with a good run if given; `made_with` records versions.

    `renamed` maps former ids of causes and rules to the present ones, `meanings` causes to what they mean.
    """
    related = relate(with_cut_logs(findings, tables))
    shown, decision = capped(related, decide(related, tables), tables)
    return Diagnosis(document(name, decision, shown, tables, made_with, good, renamed, meanings))
