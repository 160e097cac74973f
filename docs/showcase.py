"""Writes the reports in `reports/showcase/`; `pytest tests/docs` checks that they are current."""

from __future__ import annotations

from pathlib import Path

from analyzer.pipeline import analyze
from analyzer.render import render

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "reports" / "showcase"
SHOWN = (
    "worker-killed",
    "worker-exception",
    "collective-stalled",
    "identical-local-losses",
    "slow-input-tf211",
    "healthy-pauses-fit-tf215",
)
"""One of each kind: killed, failed of its own, hung with suspects, degraded, traced, healthy. Six at most."""


def report(name: str) -> str:
    """The report of a sample run."""
    return render(analyze([ROOT / "sample_runs" / name / "run"]).document, "html")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for old in {*FOLDER.iterdir()} - {FOLDER / f"{name}.html" for name in SHOWN}:
        old.unlink()
    for name in SHOWN:
        (FOLDER / f"{name}.html").write_text(report(name), encoding="utf-8")
