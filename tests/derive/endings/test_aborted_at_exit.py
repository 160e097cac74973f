"""A worker whose native threads abort it as Python exits had reached its end, as the others had."""

import pytest

from tests.derive.logs import Line, derived, raised, says, steps

ABORTED = says("terminate called without an active exception")
TRAINED = [*steps(1, 2), ABORTED]


@pytest.mark.parametrize(
    ("log", "codes", "ended"),
    [
        (TRAINED, ("-6", "0", "0"), "finished"),
        (
            [*steps(1, 2), says(f"2026-11-28T02:33:45.84Z {ABORTED.record['text']}")],
            ("-6", "0", "0"),
            "finished",
        ),
        (TRAINED, ("-6", "0", "1"), "signal"),
        (TRAINED, ("-11", "0", "0"), "signal"),
        ([*steps(1, 2), ABORTED, says("step 3 loss 0.5")], ("-6", "0", "0"), "signal"),
        ([*steps(1, 2), raised("KeyError: 'x'"), ABORTED], ("-6", "0", "0"), "exception"),
        (steps(1, 2), ("-6", "0", "0"), "signal"),
    ],
)
def test_the_others_left_with_0(log: list[Line], codes: tuple[str, ...], ended: str) -> None:
    """They could not have, had it died between two of their collectives."""
    logs = {"worker-0.log": log, "worker-1.log": steps(1, 2), "worker-2.log": steps(1, 2)}
    tables = derived(logs, exit_code={f"worker:{index}": code for index, code in enumerate(codes)})
    ends = {row["worker"]: row["ended"] for row in tables["lifetimes"].iter_rows(named=True)}
    assert ends["worker:0"] == ended
