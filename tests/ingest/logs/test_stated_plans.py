"""Numbers that a log states once: how much was planned, and how many of its records a reader rejected."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from analyzer.model.run import Tables

TablesOf = Callable[[Mapping[str, str]], Tables]


@pytest.mark.runs
@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("train | step:      0 | training until step 500...", "planned_steps", "500"),
        ("  Total optimization steps = 1000", "planned_steps", "1000"),
        ("max_train_steps=400 lr=0.1", "planned_steps", "400"),
        ("planned_steps: 40", "planned_steps", "40"),
        ("eval_total_steps=40", "planned_steps", None),
        ("total_steps_per_epoch=40", "planned_steps", None),
        ("total_steps=0", "planned_steps", None),
        ("total steps: 40/90", "planned_steps", None),
        ("  Num Epochs = 3", "planned_epochs", "3"),
        ("planned epochs 30", "planned_epochs", "30"),
        ("num_epochs=None", "planned_epochs", None),
        ("warmup_num_epochs=2", "planned_epochs", None),
        ("reader skipped 900 of 1000 records", "rejected_records", "0.90"),
        ("skipped 900 of 1000 steps", "rejected_records", None),
    ],
)
def test_a_number_that_is_stated_once(line: str, key: str, value: str | None, tables_of: TablesOf) -> None:
    """Neither a rate nor a setting of the evaluation or the warm-up is a plan."""
    facts = tables_of({"worker-0.log": f"{line}\nstep 1 loss 0.5\n"})["facts"]
    assert facts.filter(key=key)["value"].to_list() == ([value] if value else [])


@pytest.mark.runs
@pytest.mark.parametrize(
    ("plan", "last", "planned_end"),
    [
        ("training until step 40", 40, True),
        ("training until step 40", 30, False),
        ("training until step 20", 40, None),
    ],
    ids=["reached", "not reached", "counted in another unit"],
)
def test_a_plan_that_is_stated_apart(
    plan: str, last: int, planned_end: bool | None, tables_of: TablesOf
) -> None:
    """It is that of the steps, unless these are beyond it; None: there is no plan."""
    steps = "".join(f"step {step} loss {1 / step:.3f}\n" for step in range(10, last + 1, 10))
    (life,) = tables_of({"worker-0.log": f"train | step: 0 | {plan}...\n{steps}"})["lifetimes"].to_dicts()
    assert (life["plan_known"], life["planned_end"]) == (planned_end is not None, bool(planned_end))


@pytest.mark.runs
def test_plans_that_differ_are_none(tables_of: TablesOf) -> None:
    """A controller that evaluates in between states the end of each part."""
    log = "".join(
        f"train | step: {at} | training until step {at + 20}...\nstep {at + 20} loss 0.5\n" for at in (0, 20)
    )
    (life,) = tables_of({"worker-0.log": log})["lifetimes"].to_dicts()
    assert not life["plan_known"]
