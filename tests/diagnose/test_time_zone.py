"""The time zone of the times in a diagnosis."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analyzer.pipeline import analyze

MakeRun = Callable[[Mapping[str, str]], Path]


ZONED = "2026-11-21T01:40:37Z step 1 loss 0.5\n"
UNZONED = "2026-11-21 01:40:37 step 1 loss 0.5\n"


@pytest.mark.runs
@pytest.mark.parametrize(
    ("logs", "zone"),
    [
        ((ZONED, ZONED), "UTC"),
        ((UNZONED, UNZONED), "unstated"),
        ((ZONED, UNZONED), "mixed"),
        ((UNZONED, "step 1 loss 0.5\n"), "unstated"),
        (("step 1 loss 0.5\n", "step 1 loss 0.5\n"), "UTC"),
    ],
    ids=["both", "neither", "one of two", "one without times", "no times"],
)
def test_the_time_zone_is_that_of_all_logs(make_run: MakeRun, logs: tuple[str, str], zone: str) -> None:
    """A log without times says nothing of it."""
    run = make_run({f"worker-{n}.log": log for n, log in enumerate(logs)})
    assert analyze([run]).document["run"]["time_zone"] == zone
