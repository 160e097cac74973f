"""What is written about the code is true of it."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from analyzer.engine.conditions import OPERATORS
from analyzer.engine.language import SCOPES
from tests.conftest import ROOT

DOCUMENTS = runpy.run_path(str(ROOT / "docs" / "generate.py"))["DOCUMENTS"]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_a_generated_document_is_current(path: Path) -> None:
    """`python docs/generate.py` would change nothing."""
    assert path.read_text(encoding="utf-8") == DOCUMENTS[path]()


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", "docs/rules.md", "docs/write-a-rule.md", "rules/README.md"]
)
def test_links_lead_somewhere(page: str) -> None:
    """Every relative link of a page names a file of the repository."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
        assert ((ROOT / page).parent / target).exists(), target


def test_the_rule_guide_names_the_whole_vocabulary() -> None:
    """Every scope and every operator of the language is explained."""
    guide = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    assert [
        word for word in (*SCOPES, *OPERATORS) if f"`{word}`" not in guide and f"{{{word}:" not in guide
    ] == []
