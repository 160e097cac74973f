"""Jobs of up to 64 workers, made from recorded ones by code: what only noticed is there again and again."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.pipeline import analyze
from analyzer.render.text import terminal
from tests.recordings import Recordings, sample_run_named
from tests.relaid import grown

WITNESSES = {
    "batch-size": 1,
    "checkpoints-not-writable": 2,
    "collective-stalled": 2,
    "counting-rows": 2,
    "frozen-tf213": 2,
    "frozen-tf215": 1,
    "healthy-custom-loop": 1,
    "healthy-late-joiner-tf215": 1,
    "memory-limit-tf215": 1,
    "partition-tf215": 1,
    "rate-too-high-tf211": 1,
    "segmentation-fault-tf215": 2,
    "stop-file": 2,
    "uneven-shards": 2,
    "version-mismatch-tf215": 2,
    "worker-exception": 1,
    "worker-killed": 1,
}
"""Recorded run → a worker of it that is neither the leader nor guilty."""
LARGEST = ("frozen-tf215", "healthy-custom-loop", "worker-exception", "worker-killed")


@pytest.mark.parametrize(
    ("name", "workers"), [*((name, 16) for name in WITNESSES), *((name, 64) for name in LARGEST)]
)
def test_more_witnesses_change_nothing(
    name: str, workers: int, tmp_path: Path, recordings: Recordings
) -> None:
    """Cause and culprit stay, and the page stays one that can be read."""
    sample = sample_run_named(name)
    before = recordings.document(sample)
    after = analyze([grown(sample / "run", tmp_path / "run", WITNESSES[name], workers)]).document
    assert len(after["workers"]) == workers
    for key in ("verdict", "cause", "rule", "confidence", "culprits", "suspects"):
        assert after[key] == before[key]
    lines = [terminal(document, colour=False, width=100).splitlines() for document in (before, after)]
    assert len(lines[1]) < len(lines[0]) + 60
    assert len(lines[1]) < 160
