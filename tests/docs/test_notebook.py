"""The page on notebooks is true: its blocks are run in order, and `import analyzer` is cheap."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from analyzer import analyze
from analyzer.model.schema import TABLES
from tests.recordings import ROOT

pytestmark = pytest.mark.processes

PAGE = (ROOT / "docs" / "notebook.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n((?:.*\n)*?)```$", PAGE, re.MULTILINE)
RUN = ROOT / "sample_runs" / "slow-worker-fit-tf28" / "run"


def python(code: str) -> str:
    """What a fresh interpreter prints, in the repository."""
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_every_block_of_the_page_works() -> None:
    """In order, as a reader would run them."""
    assert len(BLOCKS) >= 6
    said = python("\n".join(BLOCKS))
    assert "degraded perf.straggler ['worker:0']" in said
    assert all(f"'{name}'" in said for name in TABLES)
    assert "'name': 'mwms_rules_acme'" in said


def test_the_frames_have_the_columns_that_are_documented() -> None:
    """Every table, in polars and in pandas."""
    run = analyze(RUN)
    assert {name: table.columns for name, table in run.tables.items()} == {
        name: [column.name for column in columns] for name, columns in TABLES.items()
    }
    frames = run.pandas()
    assert {name: list(frame.columns) for name, frame in frames.items()} == {
        name: table.columns for name, table in run.tables.items()
    }
    assert len(frames["waits"]) == run.tables["waits"].height > 0
    assert run.diagnosis.document["culprits"] == ["worker:0"]


def test_importing_the_package_imports_nothing_heavy() -> None:
    """Neither polars nor a stage."""
    code = "import sys, analyzer; print(sorted({'polars', 'google', 'hyperscan', 'analyzer.pipeline'} & sys.modules.keys()))"
    assert python(code).strip() == "[]"
