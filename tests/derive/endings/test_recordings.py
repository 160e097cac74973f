"""Which recordings go on, and how long a stall has lasted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import polars as pl
import pytest

from analyzer.derive.endings.recordings import (
    with_first_end,
    with_own_disk,
    with_own_files,
    with_running_workers,
    with_tasks_run_twice,
    with_whole_stalls,
)
from analyzer.tables.builders import frame


def sources(until: Mapping[str, float]) -> list[dict[str, object]]:
    """The samples of some workers, up to a time each."""
    return [
        {"source": f"{worker}/samples.jsonl", "kind": "recording", "worker": worker, "attempt": 1, "last_time": time}
        for worker, time in until.items()
    ]  # fmt: skip


def running(until: Mapping[str, float], ended: Mapping[str, str]) -> list[str]:
    """The workers that still ran."""
    facts = [
        {"worker": worker, "attempt": 1, "key": key, "value": "", "source": "s"}
        for worker, key in ended.items()
    ]
    found = with_running_workers(frame("facts", facts), frame("sources", sources(until)))
    return found.filter(found["value"] == "running")["worker"].to_list()


def test_a_recording_without_an_end_goes_on() -> None:
    """One that states its end does not, nor one whose exit code another file has."""
    until = {"worker:0": 100.0, "worker:1": 95.0, "worker:2": 100.0}
    ends = {"worker:0": "recorded_end", "worker:2": "exit_code"}
    assert running(until, ends) == ["worker:1"]


def test_a_recording_that_stops_before_the_others_was_cut_off() -> None:
    """Its host died, whatever it left unsaid."""
    assert running({"worker:0": 1000.0, "worker:1": 100.0}, {}) == ["worker:0"]


def test_a_stall_lasts_up_to_the_last_sample() -> None:
    """One that is over keeps its length."""
    rows = [
        {"source": "r", "worker": "worker:0", "line": line, "seconds": 60.0, "resumed": resumed}
        for line, resumed in ((1, True), (2, False))
    ]
    files = sources({"worker:0": 500.0})
    read = {"source": "r", "kind": "recording", "worker": "worker:0", "attempt": 1, "last_time": 200.0}
    found = with_whole_stalls(frame("stalls", rows), frame("sources", [*files, read]))
    assert found["seconds"].to_list() == [60.0, 360.0]


def told(rows: Iterable[tuple[str, str, str, float]]) -> pl.DataFrame:
    """Facts of workers: index, key, value and time."""
    names = ("worker", "key", "value", "time")
    return frame(
        "facts", (dict(zip(names, row, strict=True)) | {"attempt": 1, "source": "s"} for row in rows)
    )


@pytest.mark.parametrize(
    ("ends", "hosts", "first"),
    [
        ({"worker:0": 103.0, "worker:1": 107.0, "worker:2": 108.0}, "abc", [("worker:0", "4")]),
        ({"worker:0": 107.0, "worker:1": 106.0, "worker:2": 108.0}, "abc", []),
        ({"worker:0": 107.0, "worker:1": 106.0, "worker:2": 108.0}, "aaa", [("worker:1", "1.0")]),
        ({"worker:0": 107.0, "worker:1": 106.8, "worker:2": 108.0}, "aaa", []),
        ({"worker:0": 103.0, "worker:1": 107.0}, "abc", []),
    ],
)
def test_a_worker_ended_first_only_where_all_ends_are_recorded_and_apart(
    ends: Mapping[str, float], hosts: str, first: list[tuple[str, str]]
) -> None:
    """A second may be the clocks of two hosts; of a worker whose recording states no end nobody knows."""
    recorded = [(f"worker:{index}", "recorded_command", "python train.py", 100.0) for index in range(3)]
    recorded += [(f"worker:{index}", "host", host, 100.0) for index, host in enumerate(hosts)]
    facts = told([*recorded, *((worker, "recorded_end", "", time) for worker, time in ends.items())])
    found = with_first_end(facts).filter(pl.col("key") == "ended_first")
    assert found.select("worker", "value").rows() == first


@pytest.mark.parametrize(("until", "first"), [(109.0, [("worker:0", "6")]), (104.0, []), (101.0, [])])
def test_a_worker_ended_first_where_the_recordings_of_all_others_go_on(
    until: float, first: list[tuple[str, str]]
) -> None:
    """By their last event; a recording that breaks off before that end is no sign of a longer life."""
    recorded = [(f"worker:{index}", "recorded_command", "python train.py", 100.0) for index in range(2)]
    ends = [("worker:0", "recorded_end", "-9", 103.0), ("worker:1", "exit_code", "running", until)]
    found = with_first_end(told([*recorded, *ends])).filter(pl.col("key") == "ended_first")
    assert found.select("worker", "value").rows() == first


@pytest.mark.parametrize(
    ("opened", "own"),
    [
        ({0: ["/a/part-0.csv", "/a/vocab.txt"], 1: ["/a/part-1.csv", "/a/vocab.txt"]}, ["part-0.csv", "part-1.csv"]),
        ({0: ["/local/0/train.csv"], 1: ["/local/1/train.csv"]}, []),
        ({0: ["/a/part-0.csv"]}, []),
        ({0: ["/a/all.csv", "/etc/ssl/openssl.cnf"], 1: ["/a/all.csv", "/opt/conda/ssl/openssl.cnf"]}, []),
        ({0: ["/a/all.csv", "/usr/share/zoneinfo/UTC"], 1: ["/a/all.csv"]}, []),
        ({0: ["/a/part-0.csv"], 1: ["/a/part-1.csv", "/etc/hosts"]}, ["part-0.csv", "part-1.csv"]),
    ],
)  # fmt: skip
def test_files_are_a_workers_own_where_no_other_opened_such_a_name(
    opened: Mapping[int, list[str]], own: list[str]
) -> None:
    """Copies on several hosts have one name; a worker whose files are unknown may read the same."""
    recorded = [(f"worker:{index}", "recorded_command", "python train.py", 100.0) for index in range(2)]
    files = [
        (f"worker:{index}", "reads_file", path, 101.0) for index, paths in opened.items() for path in paths
    ]
    found = with_own_files(told([*recorded, *files])).filter(pl.col("key") == "own_files")
    assert found.sort("worker")["value"].to_list() == own


def stated(*rows: tuple[str, int, str, str]) -> pl.DataFrame:
    """Facts: worker, attempt, key, value."""
    return frame(
        "facts",
        [
            {"worker": worker, "attempt": attempt, "key": key, "value": value, "source": "s"}
            for worker, attempt, key, value in rows
        ],
    )


@pytest.mark.parametrize(
    ("second", "key"), [("{}", "recorded_twice"), ('{"worker": []}', "recorded_in_two_clusters")]
)
def test_two_recordings_of_one_task_may_know_two_clusters(second: str, key: str) -> None:
    """Then the index is right, and the list of addresses is wrong."""
    spans = [
        {"source": f"{attempt}/recording.jsonl", "kind": "recording", "worker": "worker:1", "attempt": attempt, "first_time": 10.0 + attempt, "last_time": 50.0}
        for attempt in (1, 2)
    ]  # fmt: skip
    facts = stated(("worker:1", 1, "cluster_spec", "{}"), ("worker:1", 2, "cluster_spec", second))
    found = with_tasks_run_twice(facts, frame("sources", spans))
    assert found.filter(found["key"].str.starts_with("recorded"))["key"].to_list() == [key]


@pytest.mark.parametrize(
    ("elsewhere", "workers"), [("/tmp (tmpfs, 9 bytes)", ["worker:1"]), ("/ckpt (ext4, 5 bytes)", [])]
)
def test_a_full_disk_is_a_worker_s_own_where_no_other_has_it(elsewhere: str, workers: list[str]) -> None:
    """What others have, too, may be shared."""
    full = "/ckpt (ext4, 5 bytes)"
    facts = stated(
        *(("worker:0", 1, "recorded_command", "x"), ("worker:0", 1, "disk", elsewhere)),
        *(("worker:1", 1, "recorded_command", "x"), ("worker:1", 1, "disk", full)),
        ("worker:1", 1, "full_disk", full),
    )
    found = with_own_disk(facts)
    assert found.filter(found["key"] == "own_full_disk")["worker"].to_list() == workers
