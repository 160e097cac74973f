"""What a log states of the worker that wrote it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analyzer.discover import discover
from analyzer.pipeline import load_tables
from tests.rules import our_rules

LINE = "step 1 loss 0.5\n"


@pytest.mark.runs
def test_only_a_line_about_its_own_host_states_it(make_run: Callable[[Mapping[str, str]], Path]) -> None:
    """An error names the other end of a connection; a sentence goes on behind its colon."""
    errors = (
        "Failed to connect to remote host: Connection refused\nCould not resolve host: storage.example.com\n"
        "Could not resolve hostname: gpu9\nremote host: connect() timed out\n"
    )
    own = {"worker-1.log": "Running on host: gpu-1\n", "worker-2.log": "tf=2.15.0 rank=2 host=gpu-2\n"}
    own |= {"worker-3.log": "INFO hostname: gpu-3\n", "worker-4.log": '{"step": 1, "host": "gpu-4"}\n'}
    facts = load_tables(discover([make_run({"worker-0.log": errors + LINE, **own})]), our_rules())["facts"]
    stated = facts.filter(facts["key"] == "host").select("worker", "value").rows()
    assert stated == [(f"worker:{index}", f"gpu-{index}") for index in (1, 2, 3, 4)]
