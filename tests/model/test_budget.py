"""What a run may take, in time and in bytes."""

from __future__ import annotations

import os
from math import inf

import pytest

from analyzer.model.budget import Budget, Limits, OverBudgetError


def test_limits_are_written_as_on_the_command_line() -> None:
    """Those that are infinite are left out."""
    assert [str(Limits()), str(Limits(inf, 0.5)), str(Limits(inf, inf))] == ["300s,32GB", "0.5GB", "none"]


def test_bytes_are_counted_until_they_exceed_the_limit() -> None:
    """The limit itself is still within the budget."""
    budget = Budget(Limits(unpacked_gigabytes=1e-6))
    budget.spend(1000)
    assert not budget.excess(unpacking=True)
    with pytest.raises(OverBudgetError, match="1e-06 GB to unpack"):
        budget.spend(1)
    budget.spend()  # what is unpacked already may be read


def test_time_is_that_of_the_processor() -> None:
    """Work exceeds a limit of nothing."""
    budget = Budget(Limits(cpu_seconds=0))
    with pytest.raises(OverBudgetError, match="0 s of processor time"):
        budget.spend(sum(range(100)) * 0)


@pytest.mark.processes
def test_a_forked_reader_spends_the_same_budget() -> None:
    """What a child has unpacked is missing here."""
    budget = Budget(Limits(unpacked_gigabytes=1e-6))
    if not (child := os.fork()):
        budget.spend(900)
        os._exit(0)
    os.waitpid(child, 0)
    with pytest.raises(OverBudgetError):
        budget.spend(200)
