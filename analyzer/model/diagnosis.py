"""The diagnosis: the findings in order, as the document that every renderer takes."""

from __future__ import annotations

from typing import NamedTuple

from analyzer.model.contract import DiagnosisDocument
from analyzer.model.findings import Verdict


class Diagnosis(NamedTuple):
    """The findings, ordered: what explains what, what came first, what is still unexplained.

    `document` is the output contract, `reports/diagnosis.schema.json`.
    """

    document: DiagnosisDocument

    @property
    def verdict(self) -> Verdict:
        """What became of the job."""
        return Verdict(self.document["verdict"])
