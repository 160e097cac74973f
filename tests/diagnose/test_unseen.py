"""What is said of a worker whose files were not handed over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from analyzer.pipeline import analyze

CONFIG = '{"cluster": {"worker": ["10.0.0.1:2222", "10.0.0.2:2222"]}, "task": {"type": "worker", "index": 0}}'


def test_no_place_in_training_is_claimed_for_it(make_run: Callable[[Mapping[str, str]], Path]) -> None:
    """Where it stood, its own files would tell."""
    run = make_run({"worker-0.log": "step 1 loss 0.5\nstep 2 loss 0.4\n", "tf_config-0.json": CONFIG})
    document = analyze([run]).document
    assert document["verdict"] == "inconclusive"
    (about,) = [text for text in document["why"] if text.startswith("worker:1")]
    assert "left no file at all" in about
    assert "step" not in about
