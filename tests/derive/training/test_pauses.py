"""Gaps between steps, and what explains them."""

from __future__ import annotations

from tests.derive.logs import derived, says, step

STEPS = [step(n, 1_800_000_000.0 + n) for n in range(1, 9)]
LATER = [step(n, 1_800_000_060.0 + n) for n in range(9, 13)]


def test_a_gap_in_which_a_program_was_compiled_is_told_as_that_alone() -> None:
    """XLA reports the compilation at its end, with how long it took."""
    slow = says("The operation took 50s", 1_800_000_065.0, origin="slow_operation_alarm.cc", kind="cpp")
    gap = derived({"worker-0.log": [*STEPS, *LATER]})["pauses"]
    assert gap["kind"].to_list() == ["pause"]
    compiled = derived({"worker-0.log": [*STEPS, slow, *LATER]})["pauses"]
    assert compiled.select("kind", "start", "end").rows() == [("compile", 1_800_000_015.0, 1_800_000_065.0)]
