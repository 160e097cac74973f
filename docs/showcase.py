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
    """The report of a sample run, as made with the versions of `constraints.txt`."""
    document = dict(analyze([ROOT / "sample_runs" / name / "run"]).document)
    versions = {name: _pinned().get(name, "3.11") for name in document["made_with"]["versions"]}
    return render(document | {"made_with": document["made_with"] | {"versions": versions}}, "html")


def _pinned() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    return dict(line.split("==") for line in lines if "==" in line)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for old in {*FOLDER.iterdir()} - {FOLDER / f"{name}.html" for name in SHOWN}:
        old.unlink()
    for name in SHOWN:
        (FOLDER / f"{name}.html").write_text(report(name), encoding="utf-8")
