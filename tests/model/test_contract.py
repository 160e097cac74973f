"""The types of a diagnosis follow from its JSON schema."""

from __future__ import annotations

import json
import runpy
from collections.abc import Iterator
from typing import Any, is_typeddict

from analyzer.model import contract
from tests.recordings import ROOT

SCHEMA = json.loads((ROOT / "reports" / "diagnosis.schema.json").read_text(encoding="utf-8"))


def test_the_modules_are_what_the_schema_gives() -> None:
    """`python docs/generate.py` writes them."""
    folder = ROOT / "analyzer" / "model" / "contract"
    written = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.py")}
    assert runpy.run_path(str(ROOT / "docs" / "contract.py"))["contract"]() == written


def undescribed(schema: dict[str, Any], path: str = "") -> Iterator[str]:
    """Yield the path of each part of a schema without a description, and of each of its own parts."""
    if not schema.get("description"):
        yield path
    for group in ("properties", "$defs"):
        for name, each in schema.get(group, {}).items():
            yield from undescribed(each, f"{path}.{name}")
    for group in ("items", "additionalProperties"):
        if isinstance(schema.get(group), dict):
            yield from undescribed(schema[group], f"{path}[]")
    for group in ("anyOf", "prefixItems"):
        for each in schema.get(group, ()):
            yield from undescribed(each, f"{path}.{group}")


def test_every_part_of_the_schema_is_described() -> None:
    """For whoever reads the schema alone."""
    assert list(undescribed(SCHEMA)) == []


def test_every_object_of_the_schema_is_a_type_with_its_keys() -> None:
    """The document itself, and what is nested in it."""
    assert set(contract.DiagnosisDocument.__annotations__) == set(SCHEMA["properties"])
    finding = SCHEMA["properties"]["findings"]["items"]
    assert set(contract.FindingReport.__annotations__) == set(finding["properties"])
    assert is_typeddict(contract.EvidencePlace)
