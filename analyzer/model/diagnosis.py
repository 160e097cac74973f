"""The diagnosis: the findings in order, as the document that every renderer takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from analyzer.model.findings import Verdict


class Diagnosis(NamedTuple):
    """The findings, ordered: what explains what, what came first, what is still unexplained.

    `document` is the output contract, `reports/diagnosis.schema.json`.
    """

    document: Mapping[str, Any]

    @property
    def verdict(self) -> Verdict:
        """What became of the job."""
        return Verdict(self.document["verdict"])
