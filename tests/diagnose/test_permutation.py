"""Who is guilty does not depend on the number that a worker happens to have."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from analyzer.pipeline import analyze
from tests.recordings import SAMPLE_RUNS

_INDEX = re.compile(
    r"(worker[-_]|/job:worker(?:/replica:0)?/task:|'type': 'worker', 'index': |\btask_id = )(\d+)"
)
_ADDRESSES = re.compile(
    r"(worker\\?['\"]: ?\[[^,\]]+, ?)([^,\]]+)(, ?)([^,\]]+)|(1 -> )([^,}]+)(, 2 -> )([^,}]+)"
)
SWAP = {"1": "2", "2": "1"}


def swapped(text: str) -> str:
    """Workers 1 and 2 change places, in names, contents and clusters alike; the leader stays."""
    text = _ADDRESSES.sub(lambda match: "{0}{3}{2}{1}".format(*filter(None, match.groups())), text)
    return _INDEX.sub(lambda match: match[1] + SWAP.get(match[2], match[2]), text)


def large(sample: Path) -> bool:
    """Whether a run has three workers or more, each with a log of its own."""
    return len(list((sample / "run").glob("worker-*.log"))) >= 3


@pytest.mark.parametrize(
    "sample", [sample for sample in SAMPLE_RUNS if large(sample)], ids=lambda sample: sample.name
)
def test_permuting_the_workers_permutes_the_answer_and_nothing_else(sample: Path, tmp_path: Path) -> None:
    """Cause, rule and confidence stay; culprits and suspects change places."""
    for name, change in (("before", str), ("after", swapped)):
        for path in (sample / "run").iterdir():
            if path.suffix in {".log", ".txt"}:
                target = tmp_path / name / change(path.name)
                target.parent.mkdir(exist_ok=True)
                target.write_text(
                    change(path.read_text(encoding="utf-8", errors="replace")), encoding="utf-8"
                )
    before, after = (analyze([tmp_path / name]).document for name in ("before", "after"))
    for key in ("cause", "rule", "confidence", "verdict"):
        assert before[key] == after[key]
    for key in ("culprits", "suspects"):
        moved = [f"worker:{SWAP.get(worker[7:], worker[7:])}" for worker in before[key]]
        assert sorted(moved) == sorted(after[key])
