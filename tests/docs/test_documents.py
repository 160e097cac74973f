"""What is written about the code is true of it."""

from __future__ import annotations

import re
import runpy
import subprocess
import tomllib
from collections.abc import Sequence
from pathlib import Path

import grimp
import pytest

from analyzer.engine.conditions import operators
from analyzer.engine.loading.schemas import file_schema
from tests.recordings import ROOT

DOCUMENTS = runpy.run_path(str(ROOT / "docs" / "generate.py"))["DOCUMENTS"]


@pytest.mark.recordings
@pytest.mark.xdist_group("documents")
@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_a_generated_document_is_current(path: Path) -> None:
    """`python docs/generate.py` would change nothing; one process diagnoses the recordings for all of them."""
    assert path.read_text(encoding="utf-8") == DOCUMENTS[path]()


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "CONTRIBUTING.md",
        "docs/rules.md",
        "docs/write-a-rule.md",
        "docs/trainer.md",
        "docs/collect.md",
        "docs/formats.md",
        "docs/notebook.md",
        "docs/triage.md",
        "docs/recorder.md",
        "docs/ci.md",
        "docs/compatibility.md",
        "docs/configuration.md",
        "docs/packs.md",
        "rules/README.md",
    ],
)
def test_links_lead_somewhere(page: str) -> None:
    """Every relative link of a page names a file of the repository."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
        assert ((ROOT / page).parent / target).exists(), target


@pytest.mark.processes
def test_the_guide_for_contributors_names_every_place() -> None:
    """Modules and packages of the analyzer, directories of the repository, and what is generated."""
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    parts = [each for each in (ROOT / "analyzer").iterdir() if not each.name.startswith(("_", "."))]
    held = subprocess.run(
        ["git", "ls-tree", "-d", "--name-only", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    places = [f"{each.name}/" if each.is_dir() else each.name for each in parts]
    places += [f"{name}/" for name in held if not name.startswith(".")]
    places += [path.relative_to(ROOT).as_posix() for path in DOCUMENTS]
    assert [place for place in places if place not in guide] == []


def layers() -> list[list[str]]:
    """Return the packages of each layer that import-linter enforces, the highest first."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    rows = next(each["layers"] for each in contracts["contracts"] if each["type"] == "layers")
    return [row.split(" | ") for row in rows]


def imported_packages(order: Sequence[str]) -> dict[str, list[str]]:
    """Return the other packages that the modules of each package import, in some order."""
    graph = grimp.build_graph("analyzer", cache_dir=None)
    found: dict[str, set[str]] = {package: set() for package in order}
    for module in graph.modules - {"analyzer"}:
        for imported in graph.find_modules_directly_imported_by(module) - {"analyzer"}:
            found[module.split(".")[1]].add(imported.split(".")[1])
    return {package: [name for name in order if name in found[package] - {package}] for package in order}


def test_the_drawing_of_the_packages_shows_their_imports() -> None:
    """Layers as import-linter enforces them; beside each package what its modules import, as they are."""
    imported = imported_packages([package for layer in layers() for package in layer])
    drawn = {
        name: f"    {name:<10}" + "→ " * bool(names) + ", ".join(names) for name, names in imported.items()
    }
    drawing = "\n\n".join("\n".join(drawn[name].rstrip() for name in layer) for layer in layers())
    assert f"\n\n{drawing}\n\n" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), drawing


def test_the_commands_of_the_readme_do_what_it_says() -> None:
    """A pod's whole log, an image that was built, a package that is not in any registry yet."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert all("--tail=-1" in line for line in text.splitlines() if "kubectl logs -l" in line)
    assert text.index("docker build -t mwms-analyze .") < text.index("docker run --rm")
    assert "install 'mwms-analyze" not in text


def test_every_pattern_of_gitignore_can_match() -> None:
    """A lone slash matches nothing."""
    patterns = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    assert all(pattern.strip("/") for pattern in patterns)


def test_the_rule_guide_names_the_whole_vocabulary() -> None:
    """Every scope and every operator of the language is explained."""
    guide = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    assert [
        word
        for word in (
            *file_schema("rule")["$defs"]["signal"]["properties"]["of"]["enum"],
            *operators("int"),
            *operators("text"),
        )
        if f"`{word}`" not in guide and f"{{{word}:" not in guide
    ] == []
