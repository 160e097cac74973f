"""Events of a namespace are of all its pods, also of those that have nothing to do with the job."""

from __future__ import annotations

import polars as pl
import pytest

from analyzer.derive.cluster.pods_of_other_workloads import without_pods_of_other_workloads
from analyzer.model.run import Tables
from analyzer.tables.builders import frame


def tables(pod: str, *logs: str) -> Tables:
    """A list of events with one of a pod that counts as worker 0, and a match of a rule on its line."""
    place = {"source": "events.txt", "line": 2, "worker": "worker:0", "excerpt": pod}
    sources = [{"source": "events.txt", "kind": "pods"}, *({"source": log, "kind": "log"} for log in logs)]
    return {
        "sources": frame("sources", sources),
        "facts": frame("facts", [place | {"key": "pod_event", "value": "Evicted"}]),
        "matches": frame("matches", [place | {"pattern": "pod-evicted/seen"}]),
    }


@pytest.mark.parametrize(
    ("pod", "logs", "kept"),
    [
        pytest.param("metrics-0", ["train-worker-0.log", "train-worker-1.log"], 0, id="of another workload"),
        pytest.param("train-worker-0", ["train-worker-0.log", "train-worker-1.log"], 1, id="of the job"),
        pytest.param("bert-worker-0", ["worker-0.log", "worker-1.log"], 1, id="its name states the task"),
        pytest.param("bert-0", ["bert-0.log", "bert-1.log"], 1, id="logs named after pods without a role"),
        pytest.param("bert-0", ["bert-0/chief.log", "bert-1/worker-0.log"], 1, id="a log lies in its folder"),
        pytest.param("bert-0", [], 1, id="no logs"),
    ],
)
def test_an_event_counts_if_its_pod_may_be_one_of_the_jobs(pod: str, logs: list[str], kept: int) -> None:
    """A name with nothing but a number says so only where no other names are known."""
    found = without_pods_of_other_workloads(tables(pod, *logs))
    assert [found[name].height for name in ("facts", "matches")] == [kept, kept]


def test_what_stands_on_other_lines_is_kept() -> None:
    """Only the line of the event is set aside."""
    read = tables("metrics-0", "worker-0.log")
    below = read["facts"].with_columns(line=pl.lit(3, pl.Int64), key=pl.lit("exit_code"))
    found = without_pods_of_other_workloads({**read, "facts": pl.concat([read["facts"], below])})
    assert found["facts"]["line"].to_list() == [3]
