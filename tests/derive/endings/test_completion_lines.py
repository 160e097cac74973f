"""Lines that say of a training that it is done, and results that are printed below them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.derive.logs import Line, derived, says, steps

STEPS = steps(1, 2)
LOSS = says("Loss for final step: 0.33.")


@pytest.mark.parametrize(
    ("lines", "ended"),
    [
        ([*STEPS, LOSS, *steps(2)], "finished"),
        ([*STEPS, LOSS, *steps(3, 4)], "unknown"),
        ([*STEPS, LOSS, *STEPS], "unknown"),
        ([*STEPS, says("bye"), *steps(2)], "unknown"),
        ([*STEPS, says("Training elapsed time: 12.500312 s")], "finished"),
        ([*STEPS, says("total images/sec: 812.40")], "finished"),
        ([says("total images/sec: 812.40")], "finished"),
        ([says("2026-11-27T17:04:40 total images/sec: 812.40")], "finished"),
        ([says("expected total images/sec: 812.40")], "unknown"),
        ([says("images/sec: 812.40")], "unknown"),
        ([*STEPS, says("Total img/sec on 4 GPU(s): 1167.9 +-3.1")], "finished"),
        ([*STEPS, says("Img/sec per GPU: 291.9 +-1.0")], "unknown"),
        ([*STEPS, says("target accuracy 0.95 reached at step 2 of 1000, stopping")], "finished"),
        ([*STEPS, says("target accuracy 0.95 not reached, stopping the timer")], "unknown"),
        ([*STEPS, says("target accuracy 0.95 reached, lowering the rate")], "unknown"),
        ([*STEPS, says("no improvement for 3 epochs, stopping")], "finished"),
        ([*STEPS, says("no improvement for 3 epochs, halving the rate")], "unknown"),
        ([*STEPS, says("restored model.ckpt-2: nothing left to train")], "finished"),
        ([says("Converged after 640 steps")], "finished"),
        ([says("solver: line search converged after 3 steps")], "unknown"),
        ([says("KMeans converged in 12 iterations")], "unknown"),
        ([says("The model converged at 640 steps.")], "finished"),
        ([says("Not converged after 640 steps")], "unknown"),
        ([*STEPS, says("2026-11-27T17:04:40.092Z end rank=1 steps=240")], "finished"),
        ([*STEPS, says("2026-11-27T17:04:40.092Z end name=warm-up steps=240")], "unknown"),
        ([*STEPS, says("2026-11-27T17:04:40.092Z epoch end rank=1 steps=240")], "unknown"),
    ],
)
def test_a_line_about_the_training_is_its_end(lines: Sequence[Line], ended: str) -> None:
    """Programs repeat the last step with their results; another step shows that the training went on."""
    (worker,) = derived({"worker-0.log": lines})["lifetimes"].to_dicts()
    assert worker["ended"] == ended
