"""How launchers name the tasks of a job."""

from __future__ import annotations

import pytest

from analyzer.model.task_names import attempt_of, attempts_in, listed_workers, position, worker_of


@pytest.mark.parametrize(
    ("names", "tasks"),
    [
        ("task 3", ["worker:3"]),
        ("tasks 0,2-3", ["worker:0", "worker:2", "worker:3"]),
        ("workerpool1-1", ["worker:1"]),
        ("rank 7", ["worker:7"]),
        ("somebody", []),
    ],
)
def test_a_launcher_names_one_task_or_lists_some(names: str, tasks: list[str]) -> None:
    """Slurm joins those that ended alike."""
    assert listed_workers(names) == tasks


def test_an_endless_list_is_cut() -> None:
    """A damaged line must not fill the memory."""
    assert len(listed_workers("tasks 0-999999")) == 4_096


@pytest.mark.parametrize(
    ("name", "attempt"),
    [
        ("restart/worker-0.log", 2),
        ("restart-worker-0.log", 2),
        ("worker-0.restarted.log", 2),
        ("restart-3/worker-0.log", 4),
        ("restarted-alone/worker-0.log", None),
        ("restarts/worker-0.log", None),
        ("requeue-1/worker-0.log", 2),
        ("Attempt 2/worker-0.log", 2),
        ("attempts/3/worker-0.log", 3),
        ("attempt=2/worker-0.log", 2),
        ("first-attempt/worker-0.log", 1),
        ("2nd_try/worker-0.log", 2),
        ("run-2/worker-0.log", None),
        ("first-run/worker-0.log", None),
        ("country-2/worker-0.log", None),
        ("attempts-of-alice/worker-0.log", None),
    ],
)
def test_a_restart_is_an_attempt_unless_it_is_part_of_a_jobs_name(name: str, attempt: int | None) -> None:
    """`restarted-alone` is what somebody called the job; `run-2` may be another job."""
    assert attempt_of(name) == attempt


def test_attempts_may_be_nested() -> None:
    """A scheduler counts its own within those of a pipeline."""
    one, other = (attempts_in(f"{outer}/restart-1/worker-0.log") for outer in ("attempt-1", "attempt-2"))
    assert one != other
    assert attempts_in("worker-0.log") == []


def test_step_0_is_the_start_of_its_epoch() -> None:
    """No step was printed yet."""
    assert position(2, 0) == "the start of epoch 2"
    assert position(2, 14) == "epoch 2, step 14"
    assert position(None, 0) == "step 0"


@pytest.mark.parametrize(
    ("name", "worker"),
    [("stderr.0:2", "worker:2"), ("logs/stdout.1:0", "worker:0"), ("stderr.0:x", None), ("gpu7:2222", None)],
)
def test_nec_numbers_ranks_behind_the_universe(name: str, worker: str | None) -> None:
    """An address is no rank."""
    assert worker_of(name) == worker


@pytest.mark.parametrize(
    ("name", "worker"),
    [
        ("bench/4_gpu.out", None),
        ("alexnet-2-servers.txt", None),
        ("vgg-8gpus.log", None),
        ("train-64gb-3.log", "worker:3"),
        ("gpu_4.log", "worker:4"),
        ("out-4.txt", "worker:4"),
        ("worker-3-gpus.log", "worker:3"),
        ("serial-1-gpu21.txt", "worker:1"),
    ],
)
def test_how_many_there_are_of_something_is_no_index(name: str, worker: str | None) -> None:
    """A benchmark names its logs after the number of its GPUs."""
    assert worker_of(name) == worker
