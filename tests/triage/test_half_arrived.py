"""A run whose workers arrive one by one is one run."""

from __future__ import annotations

import shutil

import pytest

from tests.triage.conftest import Desk

TONIGHT = "2026-11-22T06:00:00"


@pytest.mark.processes
def test_a_part_of_a_run_is_not_counted_beside_the_run(desk: Desk) -> None:
    """`worker_0/` came on the first night, `worker_1/` on the second; a job of a similar name is another one."""
    made = desk.write("both", "KeyError: 'label'")
    desk.write("job-2", "KeyError: 'label'")
    first, second = (desk.runs / "job" / f"worker_{number}" for number in range(2))
    for number, folder in enumerate((first, second)):
        folder.mkdir(parents=True)
        shutil.copy2(made / f"worker-{number}.log", folder / "stderr.log")
    shutil.rmtree(made)
    kept = second.rename(desk.runs.parent / "later")
    assert desk.call() == 1
    assert "mwms_triage_history 2.0" in (desk.out / "metrics.prom").read_text(encoding="utf-8")
    kept.rename(second)
    assert desk.call(now=TONIGHT) == 1
    metrics = (desk.out / "metrics.prom").read_text(encoding="utf-8")
    assert "mwms_triage_history 2.0" in metrics
