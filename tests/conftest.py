"""What several tests share: the sample runs, and a run made of a few lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from analyzer.discover import discover
from analyzer.model.run import Tables
from analyzer.pipeline import analyze, load_rules, load_tables

ROOT = Path(__file__).resolve().parent.parent
SAMPLE_RUNS = sorted(path.parent for path in (ROOT / "sample_runs").glob("*/expected.json"))


def expected(sample: Path) -> dict[str, Any]:
    """What the trainer wrote down when it recorded a sample run."""
    truth: dict[str, Any] = json.loads((sample / "expected.json").read_text(encoding="utf-8"))
    return truth


@cache
def diagnosis(sample: Path) -> Mapping[str, Any]:
    """The diagnosis of a sample run, made once for all tests that compare another one with it."""
    return analyze([sample / "run"]).document


@pytest.fixture(params=SAMPLE_RUNS, ids=lambda path: path.name)
def sample_run(request: pytest.FixtureRequest) -> Path:
    """Each recorded sample run in turn."""
    path: Path = request.param
    return path


@pytest.fixture
def make_run(tmp_path: Path) -> Callable[[Mapping[str, str]], Path]:
    """Write files into a run directory and give its path."""

    def make(files: Mapping[str, str]) -> Path:
        folder = tmp_path / "job-17"
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        return folder

    return make


@pytest.fixture
def tables_of(make_run: Callable[[Mapping[str, str]], Path]) -> Callable[[Mapping[str, str]], Tables]:
    """All tables, read and derived, of a run made of a few lines."""
    pack = load_rules()
    return lambda files: load_tables(discover([make_run(files)]), pack)
