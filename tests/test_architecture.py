"""The code stays as small in its parts as DESIGN asks: packages, files and functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles

import pytest

from tests.recordings import ROOT

GENERATED = {"event_pb2.py", "xplane_pb2.py"}
LIKE_THINGS = {"trainer/faults"}
"""Packages that may hold any number of modules: one fault each."""
MODULES = [path for path in sorted((ROOT / "analyzer").rglob("*.py")) if path.name not in GENERATED]
PACKAGES = sorted({path.parent for path in MODULES})


def inside(path: Path) -> str:
    """Return a path relative to `analyzer/`."""
    return path.relative_to(ROOT / "analyzer").as_posix()


def lines(path: Path) -> int:
    """Return how many lines a file has."""
    return len(path.read_text(encoding="utf-8").splitlines())


def function_lengths() -> Iterator[int]:
    """Yield the lines of each function, its decorators not counted."""
    for path in MODULES:
        for node in statements(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
                yield node.end_lineno - node.lineno + 1


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all statements within a node."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.stmt | ast.excepthandler | ast.match_case):
            yield each
            yield from statements(each)


def test_packages_are_small() -> None:
    """At most 15 modules, `__init__` among them, and 2,500 lines."""
    found = {inside(package): [*map(lines, package.glob("*.py"))] for package in PACKAGES}
    large = {name: own for name, own in found.items() if len(own) > 15 or sum(own) > 2_500}
    assert large.keys() - LIKE_THINGS == set()


@pytest.mark.parametrize("root", ["analyzer", "tests", "docs", "benchmarks"])
def test_no_file_is_long(root: str) -> None:
    """At most 350 lines."""
    files = [path for path in (ROOT / root).rglob("*.py") if path.name not in GENERATED]
    assert {path.relative_to(ROOT).as_posix(): n for path in files if (n := lines(path)) > 350} == {}


def test_functions_are_short() -> None:
    """Half of them have at most 7 lines, nine in ten at most 20."""
    lengths = list(function_lengths())
    assert median(lengths) <= 7
    assert quantiles(lengths, n=10)[-1] <= 20


def test_no_function_is_excused_from_being_simple() -> None:
    """Ruff refuses a cyclomatic complexity over 10 (C901); nothing switches that off."""
    assert [inside(path) for path in MODULES if "C901" in path.read_text(encoding="utf-8")] == []


def test_no_module_is_a_drawer_for_anything() -> None:
    """A module is named after what it holds."""
    drawers = {"utils", "util", "common", "helpers", "misc", "core"}
    assert [inside(path) for path in MODULES if drawers & {path.stem, path.parent.name}] == []
