"""A log that ends within a line may be the beginning of a longer one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from analyzer.model.run import Tables

STEPS = "step 1 loss 0.7\nstep 2 loss 0.6\n"
SERVICE = '{"log":"step 2 loss 0.6\\n","stream":"stdout","time":"2026-11-21T01:00:00.1Z"}'


@pytest.mark.parametrize(
    ("log", "cut"),
    [
        (STEPS, []),
        (f"{STEPS}step 3 lo", [3]),
        (f"{STEPS}step 3 loss 0.6\r\n", []),
        (f"{STEPS}\r1/3 [==>...]\r2/3 [====>.]", []),
        (f"{STEPS}....", []),
        (f"{STEPS}\x1b[0m", []),
        (SERVICE, []),
    ],
    ids=["whole", "within a line", "Windows", "a progress bar", "dots", "a colour code", "a whole entry"],
)
def test_the_end_of_a_log_is_a_fact_where_a_line_lacks_its_own(
    log: str, cut: list[int], tables_of: Callable[[Mapping[str, str]], Tables]
) -> None:
    """Bars and dots have none as long as they grow."""
    facts = tables_of({"worker-1.log": log, "worker-0.log": STEPS})["facts"].filter(key="ends_within_line")
    assert facts.select("worker", "line").rows() == [("worker:1", line) for line in cut]


def test_each_worker_of_the_file_has_the_fact(tables_of: Callable[[Mapping[str, str]], Tables]) -> None:
    """All that write into one file lose what follows; of a rotated log, only the newest part counts."""
    logs = {
        "slurm-7.out": "0: step 1 loss 0.7\n1: step 1 loss 0.7\n0: step 2 lo",
        "worker-2.log.1": "step 1 lo",
    }
    facts = tables_of({**logs, "worker-2.log": STEPS})["facts"].filter(key="ends_within_line")
    assert facts.select("worker", "line").rows() == [("worker:0", 3), ("worker:1", None)]


@pytest.mark.parametrize(
    ("end", "is_cut"),
    [
        ("anna@gpu21:~/bert$ ", False),
        ("(base) anna@gpu21:~# ", False),
        ("mail to anna@example.org: no", True),
    ],
)
def test_a_prompt_is_no_cut_line(
    end: str,
    is_cut: bool,
    tables_of: Callable[[Mapping[str, str]], Tables],
) -> None:
    """A terminal waits in it."""
    facts = tables_of({"worker-1.log": f"{STEPS}{end}"})["facts"].filter(key="ends_within_line")
    assert (facts.height > 0) is is_cut
