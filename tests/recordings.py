"""The recorded sample runs, each read once for all tests, and a second time to compare."""

from __future__ import annotations

import fcntl
import json
import os
import pickle
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import pytest
import yaml

from analyzer import analyze, pipeline
from analyzer.discover import discover
from analyzer.engine import RulePack
from analyzer.model.options import AnalysisOptions
from analyzer.model.run import Run, RunDir, Tables
from tests.rules import our_rules

ROOT = Path(__file__).resolve().parent.parent
SAMPLE_RUNS = sorted(path.parent for path in (ROOT / "sample_runs").glob("*/expected.json"))
RECORDED_RUNS = sorted(path.parent for path in (ROOT / "sample_runs" / "recorded").glob("*/expected.json"))
"""The runs under mwms-recorder."""
KNOWN_MISSES = yaml.safe_load((ROOT / "sample_runs" / "known_misses.yaml").read_text(encoding="utf-8")) or {}
"""Name of a recording that is not explained yet → the reason."""
MAX_READS = 2
READS_RUN = "tests.load_tables"
"""Audit event of a run that goes through the stages from its files to tables."""
T = TypeVar("T")


def sample_run_named(name: str) -> Path:
    """Return the directory of one sample run."""
    return next(sample for sample in SAMPLE_RUNS if sample.name == name)


def expected(sample: Path) -> dict[str, Any]:
    """Return what the trainer wrote down when it recorded a sample run."""
    truth: dict[str, Any] = json.loads((sample / "expected.json").read_text(encoding="utf-8"))
    return truth


OF_EACH_CAUSE = {expected(sample)["cause"]: sample for sample in SAMPLE_RUNS}
"""Cause → the last sample run by name that has it, for tests that need variety and not every run."""


def recorded_as(run: RunDir) -> Path | None:
    """Return the sample run that a run directory is, whole and unchanged; None if it is none."""
    homes = {home for source in run.sources[:1] for home in source.path.parents}
    sample = next((each for each in (*SAMPLE_RUNS, *RECORDED_RUNS) if each in homes), None)
    return sample if sample and discover([sample / "run"]).sources == run.sources else None


class Recordings:
    """The sample runs as read and diagnosed, in a directory that all test processes share.

    While it is installed, whatever asks for the tables of a sample run gets these; another reading is counted,
    and the third one of a recording fails the test. Other programs that tests start read for themselves.
    """

    def __init__(self, shared: Path) -> None:
        self._shared = shared
        self._reads_anew = False
        self._load_tables = pipeline.load_tables
        shared.mkdir(exist_ok=True)

    def install(self) -> None:
        """Stand in for `pipeline.load_tables`, before other modules import it."""
        pipeline.load_tables = self._tables_of

    def tables(self, sample: Path) -> Tables:
        """Return the tables of a sample run, read and derived; the first test that asks waits for them."""
        return self._once(
            sample, "tables", lambda: self._read(sample, discover([sample / "run"]), our_rules())
        )

    def analyzed(self, sample: Path) -> Run:
        """Return tables and diagnosis of a sample run."""
        return self._once(sample, "run", lambda: analyze(sample / "run"))

    def document(self, sample: Path) -> Mapping[str, Any]:
        """Return the diagnosis of a sample run, as the JSON that users get."""
        return self.analyzed(sample).document

    def analyzed_again(self, sample: Path) -> Run:
        """Read and diagnose a sample run a second time."""
        self._reads_anew = True
        try:
            return analyze(sample / "run")
        finally:
            self._reads_anew = False

    def _tables_of(self, run: RunDir, pack: RulePack, options: AnalysisOptions | None = None) -> Tables:
        sys.audit(READS_RUN)
        sample = recorded_as(run)
        if sample is None:
            return self._load_tables(run, pack, options)
        ours = our_rules()
        if self._reads_anew or (pack.patterns, pack.messages) != (ours.patterns, ours.messages):
            return self._read(sample, run, pack, options)
        return self.tables(sample)

    def _read(
        self, sample: Path, run: RunDir, pack: RulePack, options: AnalysisOptions | None = None
    ) -> Tables:
        counter = os.open(self._shared / f"{_key(sample)}.reads", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(counter, b"x")
        reads = os.fstat(counter).st_size
        os.close(counter)
        if reads > MAX_READS:
            pytest.fail(f"{sample.name} is read for the {reads}rd time: take its tables from `recordings`")
        return dict(self._load_tables(run, pack, options))

    def _once(self, sample: Path, kind: str, make: Callable[[], T]) -> T:
        """Return what was made for a sample run, by whichever process asked first."""
        kept = self._shared / f"{_key(sample)}.{kind}"
        with (self._shared / f"{_key(sample)}.{kind}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not kept.exists():
                kept.write_bytes(pickle.dumps(make()))
        made: T = pickle.loads(kept.read_bytes())
        return made


def _key(sample: Path) -> str:
    """Return a file name that no other recording has: scenarios were recorded with and without the recorder."""
    return f"{sample.parent.name}.{sample.name}"
