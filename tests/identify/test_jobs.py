"""A directory of several jobs is told from one job, however its files are laid out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import permutations
from pathlib import Path

import pytest

from analyzer.cli.analyze import main
from analyzer.discover import discover
from analyzer.pipeline import load_tables
from tests.recordings import SAMPLE_RUNS
from tests.rules import our_rules

pytestmark = pytest.mark.recordings

MakeRun = Callable[[Mapping[str, str]], Path]
SAMPLES = {sample.name: sample / "run" for sample in SAMPLE_RUNS}
JOBS = [
    "worker-killed",
    "worker-exception",
    "killed-srun-tf211",
    "healthy-four-tf24",
    "sigterm-dies-tf28",
]


def files(job: str, place: str) -> dict[str, str]:
    """The texts of a sample run, moved to another place."""
    return {
        place.format(worker=path.stem.replace(".", "-"), name=path.name): path.read_text("utf-8", "replace")
        for path in SAMPLES[job].iterdir()
        if path.suffix in {".log", ".out", ".err", ".json", ".txt"}
    }


@pytest.mark.parametrize(("one", "other"), list(permutations(JOBS, 2)))
def test_two_jobs_are_no_run(one: str, other: str, make_run: MakeRun) -> None:
    """Whatever became of them, and whatever version they ran."""
    run = make_run(files(one, "all/jobA/run/{name}") | files(other, "all/jobB/{name}"))
    assert main([str(run), "-o", "-"]) == 2


def test_what_to_give_instead_is_said_in_one_line(
    make_run: MakeRun, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of many, some."""
    run = make_run({name: text for job in JOBS for name, text in files(job, f"{job}/{{name}}").items()})
    assert main([str(run), "-o", "-"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "job-17: these look like 5 jobs: healthy-four-tf24, killed-srun-tf211, " in line
    assert "and 2 more; give one of them" in line


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("place", ["{worker}/{name}", "logs/{name}", "a/b/{worker}/c/{name}"])
def test_one_job_is_one_however_its_files_lie(job: str, place: str, make_run: MakeRun) -> None:
    """One directory for all, or one for each worker."""
    assert one_job(make_run(files(job, place)))


@pytest.mark.parametrize("other", JOBS[1:])
def test_attempts_are_lives_of_one_job(other: str, make_run: MakeRun) -> None:
    """Even on other hosts."""
    run = make_run(files(JOBS[0], "attempt-1/{name}") | files(other, "attempt-2/{name}"))
    assert one_job(run)


@pytest.mark.parametrize("job", JOBS)
def test_a_copy_or_another_stream_is_no_other_job(job: str, make_run: MakeRun) -> None:
    """The addresses in them are the same, or there are none."""
    again = {name: "step 1 loss 0.5\n" for name in files(job, "stdout/{name}") if name.endswith(".log")}
    assert one_job(make_run(files(job, "stderr/{name}") | files(job, "copy/{name}") | again))


HOST = (
    "2026-11-20 09:14:00.100000: I tensorflow/core/distributed_runtime/rpc/grpc_server_lib.cc:457] "
    "Started server with target: grpc://{}:{}\n"
)
LEADER = (
    "2026-11-20 09:14:01.100000: I tensorflow/tsl/distributed_runtime/coordination/coordination_service.cc:535] "
    "/job:worker/replica:0/task:3 has connected to coordination service. Incarnation: 12\n"
)


def test_names_may_count_anew_on_each_host(make_run: MakeRun) -> None:
    """Only one of the hosts has the leader; the other is no job of its own."""
    logs = {
        f"vm-{vm}/rank{rank}.log": HOST.format(f"10.0.0.{vm}", 2222 + rank) + (LEADER if vm + rank == 1 else "")
        for vm in (1, 2) for rank in (0, 1)
    }  # fmt: skip
    assert one_job(make_run(logs))
    logs["vm-2/rank0.log"] += LEADER
    assert main([str(make_run(logs)), "-o", "-"]) == 2


def one_job(run: Path) -> bool:
    """Whether it is read as one; what it is not raises."""
    return bool(load_tables(discover([run]), our_rules()))
