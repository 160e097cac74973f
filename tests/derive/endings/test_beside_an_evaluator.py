"""What befalls an evaluator says nothing of how the workers that train ended."""

import pytest

from tests.derive.logs import derived, raised, says, steps

FAILED = [says("evaluating every minute"), raised("OSError: metrics.db is locked")]


@pytest.mark.parametrize(
    ("helper", "ended"),
    [("evaluator-0.log", "unknown"), ("worker-2.log", "vanished")],
)
def test_trainers_without_a_last_word(helper: str, ended: str) -> None:
    """They may have finished; beside a worker that failed, they were lost with it."""
    lives = derived({"worker-0.log": steps(1, 2), "worker-1.log": steps(1, 2), helper: FAILED})["lifetimes"]
    assert {*lives.filter(lives["worker"].is_in(["worker:0", "worker:1"]))["ended"]} == {ended}
