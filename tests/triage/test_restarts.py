"""Whether a restart helped is told by the next run of the same job."""

from __future__ import annotations

import pytest

from analyzer.triage.restarts import Restart, restart


@pytest.mark.parametrize(
    ("outcomes", "told"),
    [
        ([], None),
        ([("healthy", None)], Restart(1, 1, "helped")),
        ([("failed", "this")], Restart(1, 0, "same")),
        ([("failed", "that")], Restart(1, 0, "other")),
        ([("healthy", None), ("failed", "this")], Restart(2, 1, "same")),
        ([("failed", "this"), ("healthy", None)], Restart(2, 1, "helped")),
    ],
)
def test_the_last_restart_is_compared_with_the_failure(
    outcomes: list[tuple[str | None, str | None]], told: Restart | None
) -> None:
    """It helped, failed in the same way, or failed in another way."""
    assert restart(outcomes, "this") == told
