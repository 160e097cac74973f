"""The name of a file tells whose log it is, where it tells that at all."""

from __future__ import annotations

import pytest

from analyzer.discover import kind_of
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import worker_of


@pytest.mark.parametrize(
    ("name", "worker"),
    [
        ("2024-01-05.log", None),
        ("20240105.log", None),
        ("train_2024-01-05_12-30-00.log", None),
        ("05.01.2024.log", None),
        ("2024-01-05_3.log", "worker:3"),
        ("worker-2024-01-05.log", None),
        ("worker-2-2024-01-05.log", "worker:2"),
        ("logs-2024-01-05/worker-1/stdout.log", "worker:1"),
        ("3.log", "worker:3"),
        ("worker-20.log", "worker:20"),
        ("slurm-8.out", None),
        ("slurm-8_3.out", "worker:3"),
        ("slurm-8-0.out", "worker:0"),
        ("kern-10.0.3.6.log", None),
        ("ip-172-31-4-21.log", None),
        ("10.0.3.6/worker-2.log", "worker:2"),
        ("worker-2.10.0.3.6.log", "worker:2"),
    ],
)
def test_a_date_or_an_address_is_no_worker(name: str, worker: str | None) -> None:
    """Logs of several days are those of one worker, until their words tell otherwise."""
    assert worker_of(name) == worker


@pytest.mark.parametrize(
    ("name", "worker"),
    [
        ("logs/attempt_0/1/stderr.log", "worker:1"),
        ("attempt_2/0/stdout.log", "worker:0"),
        ("run_8/attempt_0/3/stdout", "worker:3"),
        ("attempt_0/worker-2/stderr.log", "worker:2"),
        ("logs/17/stderr.log", None),
        ("attempt_0/1/train.log", None),
        ("attempt_1/stderr.log", None),
    ],
)
def test_a_folder_of_an_attempt_has_one_for_each_rank(name: str, worker: str | None) -> None:
    """So torchrun lays them out; a number that stands elsewhere may be that of a run."""
    assert worker_of(name) == worker


@pytest.mark.parametrize(
    ("name", "worker"),
    [
        ("worker-1", "worker:1"),
        ("task_1", "worker:1"),
        ("48213_1", "worker:1"),
        ("train.o48213.1", "worker:1"),
        ("train.e48213-1", "worker:1"),
        ("worker-1.log-20261121", "worker:1"),
        ("worker-1.log.bak", "worker:1"),
        ("slurm-48213.out.gpu21", None),
        ("stderr.1", "worker:1"),
    ],
)
def test_what_schedulers_and_logrotate_call_logs_are_logs(name: str, worker: str | None) -> None:
    """Array jobs of SGE, Torque and Slurm, files without a suffix, copies of logs."""
    assert (kind_of(name), worker_of(name)) == (Kind.LOG, worker)


@pytest.mark.parametrize(
    "name", ["model-1", "part-00001", "worker-1.log.md5", "train.out.lz4", "checkpoint_1"]
)
def test_other_files_are_no_logs(name: str) -> None:
    """Shards, weights, checksums."""
    assert kind_of(name) is not Kind.LOG


def test_the_host_in_the_name_of_an_event_file_is_no_task() -> None:
    """Its directory tells whose it is; only without one its own name does."""
    name = "events.out.tfevents.1795229994.node-3.7326.0.v2"
    assert worker_of(f"tb/worker-0/{name}", Kind.EVENT_FILE) == "worker:0"
    assert worker_of("tb/worker-0/plugins/profile/2026_11_21/node-3.xplane.pb", Kind.TRACE) == "worker:0"
    assert worker_of("node-3.xplane.pb", Kind.TRACE) == "worker:3"
