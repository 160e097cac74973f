"""Which worker a log belongs to whose name does not tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from analyzer.discover import discover
from analyzer.pipeline import load_rules, read


def test_a_log_of_the_kernel_is_no_workers(make_run: Callable[[Mapping[str, str]], Path]) -> None:
    """Beside logs that name their workers; its words still count for the job."""
    killed = "[14079.25] Memory cgroup out of memory: Killed process 13117 (python) anon-rss:285148kB\n"
    run = make_run(
        {"worker-0.log": "step 1 loss 0.5\n", "worker-1.log": "step 1 loss 0.5\n", "kernel.log": killed}
    )
    tables = read(discover([run]), load_rules())
    assert tables["workers"]["worker"].to_list() == ["worker:0", "worker:1"]
    assert tables["matches"].filter(tables["matches"]["source"] == "kernel.log")["worker"].to_list() != []
    assert set(tables["matches"].filter(tables["matches"]["source"] == "kernel.log")["worker"]) == {None}
