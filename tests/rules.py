"""The rules of the package, loaded once; and a few of them, for tests of what reads and checks rules."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

import pytest

from analyzer.engine import RulePack
from analyzer.pipeline import load_rules
from analyzer.storage import package_files

ROOT = Path(__file__).resolve().parent.parent

FEW = (
    "benign/benign-no-gpu-found",
    "numeric/nan-loss",
    "numeric/plateau",
    "peer/worker-killed",
    "perf/straggler",
    "symptoms/symptom-collective-timed-out",
)


@cache
def our_rules() -> RulePack:
    """Return the rules of the package."""
    return load_rules()


@pytest.fixture(scope="session")
def few_rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory of rules: six files of the package, all causes, no messages."""
    folder = tmp_path_factory.mktemp("package") / "rules"
    for name in (*(f"{name}.yaml" for name in FEW), "causes.yaml", "pack.yaml", "healthy_lines.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "rules" / name, folder / name)
    return folder


@pytest.fixture
def package_of_few_rules(few_rules: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the few rules be those of the package."""
    for name in ("reports", "sample_runs"):
        link = few_rules.parent / name
        if not link.is_symlink():
            link.symlink_to(ROOT / name)
    monkeypatch.setattr(package_files, "_PACKAGE", few_rules.parent / "analyzer")
    return few_rules
