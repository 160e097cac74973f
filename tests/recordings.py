"""The recorded sample runs, each analyzed once for all tests."""

from __future__ import annotations

import fcntl
import json
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from analyzer import analyze
from analyzer.model.run import Run, Tables

ROOT = Path(__file__).resolve().parent.parent
SAMPLE_RUNS = sorted(path.parent for path in (ROOT / "sample_runs").glob("*/expected.json"))


def sample_run_named(name: str) -> Path:
    """Return the directory of one sample run."""
    return next(sample for sample in SAMPLE_RUNS if sample.name == name)


def expected(sample: Path) -> dict[str, Any]:
    """Return what the trainer wrote down when it recorded a sample run."""
    truth: dict[str, Any] = json.loads((sample / "expected.json").read_text(encoding="utf-8"))
    return truth


class Recordings:
    """Analyses of sample runs, kept in a directory that all test processes share."""

    def __init__(self, shared: Path) -> None:
        self._shared = shared
        shared.mkdir(exist_ok=True)

    def analyzed(self, sample: Path) -> Run:
        """Return tables and diagnosis of a sample run; the first test that asks waits for them."""
        kept = self._shared / sample.name
        with kept.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not kept.exists():
                kept.write_bytes(pickle.dumps(analyze(sample / "run")))
        run: Run = pickle.loads(kept.read_bytes())
        return run

    def document(self, sample: Path) -> Mapping[str, Any]:
        """Return the diagnosis of a sample run, as the JSON that users get."""
        return self.analyzed(sample).document

    def tables(self, sample: Path) -> Tables:
        """Return the tables of a sample run, read and derived."""
        return self.analyzed(sample).tables
