"""A directory of several jobs is told from one job, however its files are laid out."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from itertools import permutations
from pathlib import Path, PurePosixPath

import pytest

from analyzer.cli.analyze import main
from analyzer.pipeline import analyze
from tests.identify.jobs.sample_jobs import JOBS, SAMPLES, files, jobs_of, one_job

pytestmark = pytest.mark.recordings

MakeRun = Callable[[Mapping[str, str]], Path]


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
    assert "sigterm-dies-tf28, worker-exception and worker-killed; give one of them" in line


def test_jobs_that_cannot_be_told_apart_may_be_more(
    make_run: MakeRun, capsys: pytest.CaptureFixture[str]
) -> None:
    """The copy of a job counts once, so the number is the least one."""
    places = {name: text for job in JOBS for name, text in files(job, f"{job}/{{name}}").items()}
    run = make_run(places | files(JOBS[0], "again/{name}"))
    assert main([str(run), "-o", "-"]) == 2
    assert "these look like at least 5 jobs in 6 directories: " in capsys.readouterr().err


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("place", ["{worker}/{name}", "logs/{name}", "a/b/{worker}/c/{name}"])
def test_one_job_is_one_however_its_files_lie(job: str, place: str, make_run: MakeRun) -> None:
    """One directory for all, or one for each worker."""
    assert one_job(make_run(files(job, place)))


@pytest.mark.parametrize("channels", [("stderr", "stdout"), ("err", "out")])
def test_the_channels_of_workers_are_no_jobs(channels: tuple[str, str], make_run: MakeRun) -> None:
    """Each may state the start of its process, its task and its cluster."""
    spec = "cluster_spec = {'worker': ['alder:2222', 'birch:2222']}"
    said = f"MultiWorkerMirroredStrategy with {spec}, task_type = 'worker', task_id = TASK, num_workers = 2"

    def named(*words: str) -> dict[str, str]:
        texts = [f"2026-11-21 01:4{at}:00,000 - INFO - {said}\nstep 1 loss 0.5\n" for at in range(len(words))]
        return {
            word.format(index): text.replace("TASK", str(index))
            for word, text in zip(words, texts, strict=True)
            for index in range(2)
        }

    assert not jobs_of(make_run(named(*(f"bert-worker-{{}}_{each}.log" for each in channels))))
    assert len(jobs_of(make_run(named("bert-worker-{}_err.log", "unet-worker-{}_out.log")))) == 2


@pytest.mark.parametrize("other", JOBS[1:])
def test_attempts_are_lives_of_one_job(other: str, make_run: MakeRun) -> None:
    """Even on other hosts."""
    run = make_run(files(JOBS[0], "attempt-1/{name}") | files(other, "attempt-2/{name}"))
    assert one_job(run)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Attempt 1", "Attempt 2"), ("first-attempt", "second-attempt"), ("attempts/1", "attempts/2"),
     ("attempt-1/restart-1", "attempt-2/restart-1"), ("requeue-0", "requeue-1")],
)  # fmt: skip
def test_attempts_have_many_names(one: str, other: str, make_run: MakeRun) -> None:
    """Counted by a person, by a scheduler, or by both."""
    found = files(JOBS[0], f"{one}/{{name}}") | files(JOBS[1], f"{other}/{{name}}")
    assert one_job(make_run(found))


@pytest.mark.parametrize(("one", "other"), [("run-1", "run-2"), ("1", "2"), ("first-run", "second-run")])
def test_runs_that_are_counted_are_no_attempts(one: str, other: str, make_run: MakeRun) -> None:
    """They may be of two jobs; the error says how to name attempts."""
    found = files(JOBS[0], f"{one}/{{name}}") | files(JOBS[1], f"{other}/{{name}}")
    assert jobs_of(make_run(found)) == [one, other]


def configured(*names: str, job: str = "bert") -> dict[str, str]:
    """TF_CONFIG of the pods of a job, at addresses that no log names."""
    cluster = {"worker": [f"{job}-worker-{index}.ml.svc:2222" for index in range(len(names))]}
    return {
        name: json.dumps({"cluster": cluster, "task": {"type": "worker", "index": index}})
        for index, name in enumerate(names)
    }


def test_the_configuration_of_a_pod_is_of_the_job_of_its_log(make_run: MakeRun) -> None:
    """Also where the program defines a cluster of its own; two jobs remain two."""
    logs = {name: text for name, text in files("worker-killed", "bert-{name}").items() if ".json" not in name}
    tasks = [f"tf_config-bert-worker-{index}.json" for index in range(3)]
    run = make_run(logs | configured(*tasks))
    assert jobs_of(run) == []
    found = analyze([run]).document
    fired = {each["rule"] for each in found["findings"] if each["outcome"] == "fired"}
    assert found["culprits"] == ["worker:2"]
    assert "server-not-in-cluster" in fired
    other = files("nan-loss", "other-{name}")
    assert len(jobs_of(make_run(logs | configured(*tasks) | other))) == 2
    twice = configured(*tasks) | configured(*(f"tf_config-vit-worker-{n}.json" for n in range(3)), job="vit")
    assert len(jobs_of(make_run(twice))) == 2


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


PAIRS = [
    ("ratings-healthy", "ratings-server-killed"),
    ("ratings-worker-absent", "reviews-bad-line"),
    ("restarted-alone", "rate-too-high-tf211"),
    ("mirrored-exception", "missing-module-fit"),
    ("mirrored-nan", "mirrored-exception"),
]


@pytest.mark.parametrize("pair", PAIRS)
def test_jobs_of_any_strategy_side_by_side_are_no_run(pair: tuple[str, str], tmp_path: Path) -> None:
    """Parameter servers, one machine, a worker that was restarted: as they were recorded."""
    assert found_jobs(tmp_path, {job: job for job in pair}) == sorted(pair)


def test_a_copy_elsewhere_hides_no_job(tmp_path: Path) -> None:
    """Of a job and its copy, one is named."""
    places = {"runs/a": "worker-killed", "runs/b": "nan-loss", "backup/b": "nan-loss"}
    assert found_jobs(tmp_path, places) == ["backup", "runs/a"]


def test_each_job_is_counted_however_deep_it_lies(tmp_path: Path) -> None:
    """`x` is not one of them, but holds two."""
    places = {"x/a": "worker-killed", "x/b": "nan-loss", "y/c": "worker-exception"}
    assert found_jobs(tmp_path, places) == ["x/a", "x/b", "y"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("slurm-outside-a-step-tf215", "ratings-healthy"),
        ("slurm-outside-a-step-tf215", "checkpoints-shared-tf215"),
        ("slurm-outside-a-step-tf215", "missing-csv-tf217"),
        ("index-twice-loguru-docker", "strategy-late-one"),
        ("healthy-srun-tf211", "nan-loss"),
        ("strategy-late-one", "healthy-goes-on-tf211"),
    ],
)
def test_a_job_that_died_at_its_start_is_told_from_one_of_another_time(
    one: str, other: str, tmp_path: Path
) -> None:
    """It has no leader and no addresses, but the other one has logs of all its tasks."""
    assert found_jobs(tmp_path, {"a": one, "b": other}) == ["a", "b"]


@pytest.mark.parametrize(("one", "other"), [("worker-killed", "nan-loss"), ("frozen-tf215", "worker-killed")])
def test_a_finished_job_below_another_one(one: str, other: str, make_run: MakeRun) -> None:
    """Files in a directory are compared with those in its sub-directories."""
    run = make_run(files(one, "{name}") | files(other, "old/{name}"))
    assert jobs_of(run) == ["old", "the other files"]


def test_jobs_may_be_told_by_a_number_in_their_names(make_run: MakeRun) -> None:
    """If a task has a file of each."""
    jobs = dict(zip(("exp07", "exp08"), ("worker-killed", "nan-loss"), strict=True))
    logs = {name: text for job, of in jobs.items() for name, text in files(of, f"{job}-{{name}}").items()}
    assert jobs_of(make_run(logs)) == [
        "the files like exp07-worker-0.log",
        "the files like exp08-worker-0.log",
    ]


def test_numbers_of_hosts_are_of_one_job(make_run: MakeRun) -> None:
    """They differ from task to task."""
    own = files("worker-killed", "{name}")
    assert one_job(make_run({f"gpu{n}-{name}": text for n, (name, text) in enumerate(own.items())}))


@pytest.mark.parametrize("form", ["{job}-{path.name}", "{job}.{path.name}", "{path.stem}-{job}{path.suffix}"])
def test_jobs_in_one_directory_are_told_by_their_names(form: str, make_run: MakeRun) -> None:
    """What stands before or behind the task; the same job under two names is a copy."""

    def named(sample: str, job: str) -> dict[str, str]:
        own = files(sample, "{name}").items()
        return {form.format(job=job, path=PurePosixPath(name)): text for name, text in own}

    found = jobs_of(make_run(named("worker-killed", "bert") | named("nan-loss", "unet")))
    assert len(found) == 2
    assert all(name.startswith("the files like ") for name in found)
    assert len(jobs_of(make_run(files("worker-killed", "{name}") | named("nan-loss", "unet")))) == 2
    assert one_job(make_run(named("worker-killed", "bert") | named("worker-killed", "unet")))


def test_a_finished_job_below_another_one_in_a_directory(make_run: MakeRun) -> None:
    """The message says where the other files are."""
    run = make_run(files("worker-killed", "x/{name}") | files("nan-loss", "x/old/{name}"))
    assert jobs_of(run) == ["x/old", "the other files in x"]


def test_a_job_below_one_with_a_directory_for_each_worker(tmp_path: Path) -> None:
    """The directories of the workers count together."""
    places = {"old": "worker-killed"}
    shutil.copytree(SAMPLES["healthy-estimator"], tmp_path, dirs_exist_ok=True)
    assert found_jobs(tmp_path, places) == ["old", "the other files"]


@pytest.mark.parametrize("job", JOBS)
def test_a_copy_below_a_job_and_an_attempt_below_it_are_none_of_their_own(
    job: str, make_run: MakeRun
) -> None:
    """A copy began at the same times; an attempt is named so."""
    own = files(job, "{name}")
    assert one_job(make_run(own | files(job, "old/{name}")))
    assert one_job(make_run(own | files("worker-killed", "previous/{name}")))


@pytest.mark.parametrize("job", ["mirrored-nan", "ratings-server-killed", "restarted-alone", "slurm-nan"])
def test_two_copies_are_one_job(job: str, tmp_path: Path) -> None:
    """Its processes began at the same times in both."""
    assert found_jobs(tmp_path, {"here": job, "there/again": job}) == []


def test_nightly_jobs_at_the_same_addresses_are_several(make_run: MakeRun) -> None:
    """A service keeps its name and port from night to night; the processes are others, at whatever time."""
    night = {f"mon/{name}": text for name, text in hosted("2026-11-20 09:14").items()}
    assert one_job(make_run(night | {name.replace("mon", "utc"): text for name, text in night.items()}))
    hours = {f"utc/{name}": text for name, text in hosted("2026-11-20 17:14").items()}
    assert one_job(make_run(night | hours))
    for minute in ("2026-11-21 09:21", "2026-11-21 09:14", "2026-11-27 09:14"):
        other = {f"tue/{name}": text for name, text in hosted(minute).items()}
        assert main([str(make_run(night | other)), "-o", "-"]) == 2


def on_hosts(form: str, net: str, count: int = 2) -> dict[str, str]:
    """The first lines of a job of two workers on so many hosts, without a word of their leader."""
    return {form.format(n): HOST.format(f"{net}.{n % count}", 2222 + n) for n in range(2)}


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        (
            on_hosts("bert/worker-{}.log", "10.1.0"),
            on_hosts("unet/worker-{}.log", "10.7.7"),
            ["bert", "unet"],
        ),
        (on_hosts("bert/worker-{}.log", "10.1.0"), on_hosts("t5/rank{}.out", "10.7.7", 1), ["bert", "t5"]),
        (
            on_hosts("bert-worker-{}.log", "10.1.0"),
            on_hosts("unet-worker-{}.log", "10.7.7"),
            ["the files like bert-worker-0.log", "the files like unet-worker-0.log"],
        ),
        (on_hosts("bert/worker-{}.log", "10.1.0"), on_hosts("attempt-2/worker-{}.log", "10.7.7"), []),
        (on_hosts("vm-1/worker-{}.log", "10.1.0", 1), on_hosts("vm-2/worker-{}.log", "10.1.1", 1), []),
    ],
    ids=["directories", "one on one host", "names", "an attempt", "a directory for each host"],
)
def test_jobs_without_a_leader_are_told_by_their_hosts(
    one: dict[str, str], other: dict[str, str], found: list[str], make_run: MakeRun
) -> None:
    """Where tasks have servers on several hosts, their names count through the job; else only on a host."""
    assert jobs_of(make_run(one | other)) == found


def hosted(minute: str) -> dict[str, str]:
    """The first lines of a job of two workers at fixed addresses."""
    server = HOST.replace("2026-11-20 09:14", minute)
    leader = LEADER.replace("2026-11-20 09:14", minute)
    return {
        "worker-0.log": server.format("train-0", 2222) + leader,
        "worker-1.log": server.format("train-1", 2222),
    }


def found_jobs(root: Path, places: Mapping[str, str]) -> list[str]:
    """Place → sample run, copied there: the jobs that are found."""
    for place, job in places.items():
        shutil.copytree(SAMPLES[job], root / place / "run")
    return jobs_of(root)
