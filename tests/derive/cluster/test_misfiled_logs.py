"""Logs that may be of another worker, or another job, than their names state."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from analyzer.derive.cluster.membership import FILES, SERVICE
from analyzer.derive.cluster.misfiled_logs import misfiled
from analyzer.model.task_names import Basis


def log(worker: str, first: float, last: float, size: int = 900) -> dict[str, Any]:
    """A row of `sources`."""
    return {"source": f"{worker}.log", "kind": "log", "worker": worker, "bytes": size, "lines": 20,
            "first_time": first, "last_time": last}  # fmt: skip


def doubted(logs: list[dict[str, Any]], **columns: Any) -> dict[str, str]:
    """Worker → its kind of doubt; `columns` hold for the last worker."""
    rows = [
        {
            "worker": each["worker"],
            "role": "worker",
            "logged": True,
            "shares_claim": False,
            "known_by": SERVICE,
            "guessed": None,
        }
        for each in logs
    ]
    given = ("devices", "met", "stepped", "sizes", "content")
    devices, met, stepped, sizes, content = (columns.pop(key, {}) for key in given)
    rows[-1] |= columns
    found = misfiled(pl.DataFrame(logs), rows, devices, {*met}, {*stepped}, sizes, content.get)
    return {worker: row["doubted"] for worker, row in found.items()}


def test_two_workers_with_one_file() -> None:
    """The same bytes at the same microseconds; at the same full seconds two workers may well print the same."""
    first, *copies = log("a:0", 10.25, 20.5, 800), log("a:1", 10.75, 20.5), log("a:2", 10.75, 20.5)
    assert doubted([first, *copies]) == {"a:1": "copy", "a:2": "copy"}
    assert doubted([log("a:0", 10.0, 20.0), log("a:1", 10.0, 20.0)]) == {}
    assert doubted([log("a:0", 10.25, 20.5), log("a:1", 10.25, 20.5, 901)]) == {}


def test_a_log_that_names_itself_another_worker() -> None:
    """Unless that one says the same, or left no log; a coordinator names the devices of others."""
    logs = [log("worker:0", 1.1, 9.9), log("worker:1", 1.2, 9.8)]
    own = {"worker:1": "worker:0"}
    assert doubted(logs, devices=own) == {"worker:1": "name"}
    assert doubted(logs, devices=own, shares_claim=True) == {}
    assert doubted(logs, devices={"worker:1": "worker:7"}) == {}
    assert doubted(logs, devices=own, role="ps") == {}


def test_a_log_that_lies_beside_those_of_another_job() -> None:
    """No peer names it and it ran at another time; one of these alone happens in one job, too."""
    peers = [log("worker:0", 9_000.1, 9_100.0), log("worker:1", 9_000.2, 9_100.1)]
    old, late = log("worker:2", 10.3, 60.0), log("worker:2", 9_050.3, 9_200.0)
    assert doubted([*peers, old], known_by=FILES) == {"worker:2": "job"}
    assert doubted([*peers, old]) == {}
    assert doubted([*peers, late], known_by=FILES) == {}
    assert doubted([*peers, old], known_by=None, role="evaluator") == {}


def test_a_log_beside_as_many_workers_as_these_state() -> None:
    """Nothing but the order of the files makes it a worker; replicas count devices, and no evaluator."""
    logs = [log(f"worker:{index}", 10.1 + index, 99.0 + index) for index in range(3)]
    extra: dict[str, Any] = {"known_by": FILES, "guessed": Basis.ORDER}
    assert doubted(logs, sizes={"worker:0": "2", "worker:2": "3"}, **extra) == {"worker:2": "job"}
    assert doubted(logs, sizes={"worker:0": "3"}, **extra) == {}
    assert doubted(logs, sizes={"worker:0": "2"}, **extra | {"role": "evaluator"}) == {}
    assert doubted(logs, sizes={"worker:0": "2", "worker:1": "4"}, **extra) == {}
    assert doubted(logs, sizes={"worker:0": "2"}, **extra | {"guessed": Basis.NUMBER}) == {}
    assert doubted(logs, sizes={"worker:0": "2"}, **extra | {"known_by": SERVICE}) == {}


def test_two_logs_of_different_times() -> None:
    """One saw the other connect, both made steps, or a day lies between them; clocks of two zones are no reason."""
    logs = [log("worker:0", 10.1, 100.0), log("worker:1", 9_400.2, 9_500.1)]
    both = {"worker:0": "job", "worker:1": "job"}
    assert doubted(logs) == {}
    assert doubted(logs, met=["worker:1"]) == {"worker:1": "job"}
    assert doubted(logs, stepped=["worker:1"]) == {}
    assert doubted(logs, stepped=["worker:0", "worker:1"]) == both
    assert doubted([log("worker:0", 10.1, 100.0), log("worker:1", 90_000.2, 90_001.5)]) == both
    zones = [log("worker:0", 10.1, 100.0), log("worker:1", 3 * 3_600 + 12.7, 3 * 3_600 + 99.1)]
    assert doubted(zones, stepped=["worker:0", "worker:1"]) == {}
    near = [log("worker:0", 10.1, 100.0), log("worker:1", 300.2, 400.1)]
    assert doubted(near, met=["worker:1"], stepped=["worker:0", "worker:1"]) == {}


@pytest.mark.parametrize(
    ("name", "first", "doubt"),
    [
        ("node7/worker-0.log", 5_000.2, {"worker:0": "job"}),
        ("node7/worker-0.log", 90.2, {}),
        ("worker-0.log.old", 5_000.2, {}),
        ("attempt-1/worker-0.log", 5_000.2, {}),
        ("node7/worker-0.log.1", 5_000.2, {}),
        ("node7/worker-0.log", 2 * 3_600 + 12.5, {}),
    ],
    ids=["another time", "the same time", "beside it", "an attempt", "a rotated part", "another time zone"],
)
def test_a_second_log_of_a_worker_that_is_of_another_time(
    name: str, first: float, doubt: dict[str, str]
) -> None:
    """As one that was left over, or is of another job, whose workers have the same names."""
    peers = [log("worker:0", 10.1, 100.0), log("worker:1", 11.2, 101.1)]
    second = log("worker:0", first, first + 30, size=800) | {"source": name}
    assert doubted([second, *peers]) == doubt


def test_logs_of_which_other_things_are_read_are_no_copies() -> None:
    """Two workers that print the same losses at the same times are as long; their tasks or servers differ."""
    logs = [log("worker:0", 10.25, 20.5), log("worker:1", 10.25, 20.5)]
    assert {*doubted(logs).values()} == {"copy"}
    assert doubted(logs, content={"worker:0.log": "10.1.0.1:2222", "worker:1.log": "10.1.0.2:2222"}) == {}


@pytest.mark.parametrize(
    ("days", "doubt"), [(-3, {"worker:1": "job"}), (3, {"worker:1": "job"}), (0, {}), (0.5, {})]
)
def test_a_recording_more_than_a_day_from_the_logs_is_doubted(days: float, doubt: dict[str, str]) -> None:
    """It was left by another run; clocks of two time zones are less than a day apart."""
    logs = [log("worker:0", 500_010.25, 500_020.5), log("worker:1", 500_011.25, 500_021.5)]
    began = 500_010.0 + days * 86_400
    recorded = log("worker:1", began, began + 9) | {"kind": "recording", "source": "worker-1/recording.jsonl"}
    rows = [{"worker": each["worker"], "role": "worker", "logged": True, "shares_claim": False,
             "known_by": SERVICE, "guessed": None} for each in logs]  # fmt: skip
    found = misfiled(pl.DataFrame([*logs, recorded]), rows, {}, set(), set(), {}, len)
    assert {worker: row["doubted"] for worker, row in found.items()} == doubt
