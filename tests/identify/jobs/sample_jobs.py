"""Sample runs as the jobs of a directory, and the jobs that are found in it."""

from __future__ import annotations

from pathlib import Path

from analyzer.discover import discover
from analyzer.identify.jobs import several_jobs
from analyzer.ingest import ingest
from analyzer.pipeline import load_tables
from tests.recordings import SAMPLE_RUNS
from tests.rules import our_rules

SAMPLES = {sample.name: sample / "run" for sample in SAMPLE_RUNS}
JOBS = [
    "worker-killed",
    "worker-exception",
    "killed-srun-tf211",
    "healthy-four-tf24",
    "sigterm-dies-tf28",
]


def files(job: str, place: str) -> dict[str, str]:
    """The texts of a sample run, moved to another place."""
    return {
        place.format(worker=path.stem.replace(".", "-"), name=path.name): path.read_text("utf-8", "replace")
        for path in SAMPLES[job].iterdir()
        if path.suffix in {".log", ".out", ".err", ".json", ".txt"}
    }


def jobs_of(run: Path) -> list[str]:
    """The jobs that are found in a directory."""
    rules = our_rules()
    tables = ingest(discover([run]), rules.patterns, rules.messages)
    return several_jobs(tables, rules.messages)


def one_job(run: Path) -> bool:
    """Whether it is read as one; what it is not raises."""
    return bool(load_tables(discover([run]), our_rules()))
