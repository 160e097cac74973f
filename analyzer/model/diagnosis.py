"""The diagnosis: ordered findings and the output document."""

from __future__ import annotations

from typing import NamedTuple

from analyzer.model.contract import DiagnosisDocument
from analyzer.model.findings import Verdict


class Diagnosis(NamedTuple):
    """The findings in order, and the document that every renderer takes.

    `document` is the output contract, `reports/diagnosis.schema.json`.
    """

    document: DiagnosisDocument

    @property
    def verdict(self) -> Verdict:
        """Return the verdict on the job."""
        return Verdict(self.document["verdict"])
