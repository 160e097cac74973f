"""That a script caught SIGTERM, in its own words."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from analyzer.model.run import Tables

TablesOf = Callable[[Mapping[str, str]], Tables]


@pytest.mark.parametrize(
    ("line", "caught"),
    [
        ("received SIGTERM, node is being reclaimed; leaving", True),
        ("Got signal 15, saving a checkpoint", True),
        ("SIGTERM received: stopping after this step", True),
        ("Caught signal SIGTERM", True),
        ("will save a checkpoint if SIGTERM is received", False),
        ("when received SIGTERM the worker saves first", False),
        ("worker 1: received SIGTERM", True),
        ("worker 1 received SIGTERM, waiting for it to save", False),
        ("SIGTERM received by rank 3", False),
        ("sending SIGTERM to worker 2", False),
        ("received SIGTERM from worker 2", False),
        ("Received SIGTERM death signal, shutting down workers", False),
    ],
)
def test_only_who_was_told_to_go_says_so(line: str, caught: bool, tables_of: TablesOf) -> None:
    """Not who sends the signal, waits for it or tells of another process."""
    facts = tables_of({"worker-0.log": f"step 1 loss 0.5\n{line}\n"})["facts"]
    assert (facts["key"] == "sigterm").any() is caught
