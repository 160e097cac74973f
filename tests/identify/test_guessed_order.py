"""Logs without names, of which one mentions the task that is left for it as its peer."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from analyzer.identify.guesses import next_free


class Remote:
    """Which tasks each log mentions as its peers."""

    def __init__(self, mentioned: Mapping[str, set[str]]) -> None:
        """Create from log → tasks."""
        self._mentioned = mentioned

    def __call__(self, group: list[str]) -> set[str]:
        """Return the tasks that a group of logs mentions."""
        return set().union(*(self._mentioned.get(log, set()) for log in group))


@pytest.mark.parametrize(
    ("mentioned", "tasks"),
    [
        ({"a": {"worker:0"}, "c": {"worker:2"}}, {"a": 1, "b": 2, "c": 0}),
        ({"c": {"worker:2"}}, {"a": 2, "b": 1, "c": 0}),
        ({"a": {"worker:2"}, "b": {"worker:2"}, "c": {"worker:2"}}, {"a": 0, "b": 1, "c": 3}),
        ({"c": {"worker:1"}}, {"a": 0, "b": 1, "c": 2}),
    ],
    ids=["one that mentions nobody", "the first of two", "the log of 2 is missing", "in their order"],
)
def test_the_last_log_takes_the_task_of_one_that_mentions_nobody(
    mentioned: Mapping[str, set[str]], tasks: Mapping[str, int]
) -> None:
    """It cannot be the task that it lost; where all lost that one, it has no log."""
    found = next_free([["a"], ["b"], ["c"]], set(), Remote(mentioned), set())  # type: ignore[arg-type]
    assert {log: claim.worker for log, claim in found.items()} == {k: f"worker:{n}" for k, n in tasks.items()}
