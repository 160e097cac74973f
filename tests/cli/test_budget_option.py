"""What `--budget` refuses, and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.cli.analyze import main

pytestmark = pytest.mark.runs


@pytest.mark.parametrize(
    ("budget", "why"),
    [
        ("1s,1MB", "'1MB' is neither seconds nor gigabytes"),
        ("ten", "'ten' is neither seconds nor gigabytes"),
        ("1GB,1s", "seconds come first"),
    ],
)
def test_a_wrong_budget_is_told_by_its_wrong_part(
    budget: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With an example."""
    (tmp_path / "worker-0.log").write_text("step 1 loss 0.5\n", encoding="utf-8")
    assert main([str(tmp_path), "-o", "-", "--budget", budget]) == 2
    assert f"--budget {budget}: {why}; write it like 300s,32GB, or none" in capsys.readouterr().err
