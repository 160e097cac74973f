"""Numbers in the names of logs that are no index of a worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analyzer.discover import discover
from analyzer.model.task_names import counts_up, worker_of
from analyzer.pipeline import load_tables
from tests.rules import our_rules

MakeRun = Callable[[Mapping[str, str]], Path]
LINE = "step 1 loss 0.5\n"
CONFIG = 'TF_CONFIG={"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": %d}}\n'


def workers_of(run: Path) -> dict[str, str | None]:
    """Source → the worker that it is given to."""
    sources = load_tables(discover([run]), our_rules())["sources"]
    return dict(sources.select("source", "worker").iter_rows())


@pytest.mark.parametrize(
    ("name", "worker"),
    [
        ("azureml-logs/70_driver_log_3.txt", "worker:3"),
        ("70_driver_log.txt", "worker:70"),
        ("3-of-8.log", "worker:3"),
    ],
)
def test_a_number_before_the_name_counts_if_none_is_behind_it(name: str, worker: str) -> None:
    """Azure numbers the stages of a job so."""
    assert worker_of(name) == worker


def test_the_first_digits_of_an_identifier_are_no_index() -> None:
    """Ray names the output of its workers by their identifiers; 4101 is the process."""
    assert worker_of("logs/worker-96a41c20-01000000.out") is None


@pytest.mark.runs
def test_a_number_that_files_of_all_folders_share_is_one_of_a_step(make_run: MakeRun) -> None:
    """As in the archive of a run of GitHub Actions: what sets a job up is no log of a worker."""
    files = {f"train ({host})/{step}.txt": "ready\n" for host in "ab" for step in ("1_Set up", "9_Clean up")}
    logs = {f"train ({host})/3_Train.txt": LINE for host in "ab"}
    found = workers_of(make_run(files | logs))
    assert {found[log] for log in logs} == {"worker:0", "worker:1"}
    assert {found[file] for file in files} == {None}


@pytest.mark.runs
@pytest.mark.parametrize(
    ("names", "workers"),
    [
        pytest.param(
            ["20_image_build", "65_job_prep-tvmps_8b1c_d", "70_driver_log_0", "70_driver_log_1"],
            [None, None, "worker:0", "worker:1"],
            id="stages",
        ),
        pytest.param(["0_mars", "1_venus"], ["worker:0", "worker:1"], id="near miss: without a gap"),
        pytest.param(["3_train", "7_train"], ["worker:3", "worker:7"], id="near miss: with equal words"),
    ],
)
def test_numbers_of_stages_have_gaps_and_words_of_their_own(
    names: list[str], workers: list[str | None], make_run: MakeRun
) -> None:
    """Azure leaves room between the stages of a job."""
    found = workers_of(make_run({f"azureml-logs/{name}.txt": f"host {name}\n{LINE}" for name in names}))
    stages = {f"azureml-logs/{name}.txt" for name, worker in zip(names, workers, strict=True) if not worker}
    named = [found[f"azureml-logs/{name}.txt"] for name, worker in zip(names, workers, strict=True) if worker]
    assert named == [worker for worker in workers if worker]
    assert {found[name] for name in stages}.isdisjoint({"worker:20", "worker:65"})


@pytest.mark.runs
@pytest.mark.parametrize("folders", [("2026-11-24", "2026-11-25"), ("attempt-1", "attempt-2")])
def test_days_and_attempts_have_files_of_the_same_workers(
    make_run: MakeRun, folders: tuple[str, str]
) -> None:
    """Also if there is but one worker."""
    found = workers_of(make_run({f"{folder}/out_0.log": LINE for folder in folders}))
    assert {*found.values()} == {"worker:0"}


@pytest.mark.runs
def test_numbers_that_differ_within_a_folder_are_those_of_workers(make_run: MakeRun) -> None:
    """Though each folder has the same ones."""
    files = {f"{part}/{index}.log": LINE for part in ("fit", "eval") for index in (0, 1)}
    found = workers_of(make_run(files))
    assert {name: worker for name, worker in found.items() if name.startswith("fit")} == {
        "fit/0.log": "worker:0", "fit/1.log": "worker:1",
    }  # fmt: skip


@pytest.mark.runs
@pytest.mark.parametrize(("name", "worker"), [("job_551.log", "worker:0"), ("out_3.log", "worker:3")])
def test_a_number_far_above_that_of_the_logs_is_one_of_a_job(
    make_run: MakeRun, name: str, worker: str
) -> None:
    """Nobody waits for 550 workers of which nothing speaks; of a few, one log may be all that is there."""
    assert workers_of(make_run({name: LINE})) == {name: worker}


@pytest.mark.runs
def test_nomad_counts_the_parts_of_an_output_up(make_run: MakeRun) -> None:
    """Each allocation has a folder of its own; the part with the highest number is the newest."""
    steps = {0: "step 1 loss 0.5\n", 1: "step 2 loss 0.4\n"}
    files = {f"{i}f3/alloc/logs/t.stdout.{part}": steps[part] for i in "ab" for part in (1, 0)}
    files |= {f"{i}f3/alloc/logs/t.stderr.0": "WARNING:tensorflow:slow\n" for i in "ab"}
    run = make_run(files)
    found = workers_of(run)
    assert {name[0]: worker for name, worker in found.items()} == {"a": "worker:0", "b": "worker:1"}
    assert len({*found.values()}) == 2
    parts = [
        source.name for source in discover([run]).sources if "af3" in source.name and "stdout" in source.name
    ]
    assert parts == ["af3/alloc/logs/t.stdout.0", "af3/alloc/logs/t.stdout.1"]


@pytest.mark.runs
def test_parts_in_partitions_are_of_one_log(make_run: MakeRun) -> None:
    """As Firehose and others store logs; their numbers are no workers."""
    parts = [f"part-0000{number}.json" for number in (0, 1)]
    line = '{"message": "step 1 loss 0.5"}\n'
    found = workers_of(
        make_run({f"logs/host={host}/{part}": line for host in ("ash", "elm") for part in parts})
    )
    assert [*found.values()] == ["worker:0", "worker:0", "worker:1", "worker:1"]
    assert not any(map(counts_up, parts))


@pytest.mark.runs
def test_the_number_that_differs_is_the_index_if_all_share_another(make_run: MakeRun) -> None:
    """As HTCondor names the output of a job's processes; what it logs of the job is no log of a worker."""
    files = {f"train.771.{n}.{stream}": LINE for n in (0, 1) for stream in ("out", "err")}
    found = workers_of(make_run(files | {"train.771.log": "000 (771.000.000) Job submitted\n"}))
    assert found == {
        "train.771.0.err": "worker:0", "train.771.0.out": "worker:0", "train.771.1.err": "worker:1",
        "train.771.1.out": "worker:1", "train.771.log": None,
    }  # fmt: skip


@pytest.mark.runs
@pytest.mark.parametrize(
    ("names", "tasks"),
    [
        ("chief-1 worker-1 worker-2 ps-1", "chief:0 worker:0 worker:1 ps:0"),
        ("chief-1 worker-1 worker-3 ps-1", "chief:1 worker:1 worker:3 ps:1"),
        ("chief-1 worker-0 worker-1", "chief:1 worker:0 worker:1"),
        ("worker-1 ps-1", "worker:1 ps:1"),
    ],
    ids=["as Compose numbers", "a number is missing", "one role from 0", "no role of one task alone"],
)
def test_a_chief_numbered_1_shows_that_all_roles_count_from_1(
    make_run: MakeRun, names: str, tasks: str
) -> None:
    """A cluster has one chief at most, and its index is 0."""
    found = workers_of(make_run({f"{name}.log": LINE for name in names.split()}))
    assert [found[f"{name}.log"] for name in names.split()] == tasks.split()


@pytest.mark.runs
def test_a_rank_among_all_roles_is_no_other_index(make_run: MakeRun) -> None:
    """The chief is rank 0, the first worker rank 1: neither says that its container counts from 0."""
    ranks = {"chief-1": 0, "worker-1": 1, "worker-2": 2}
    found = workers_of(make_run({f"{name}.log": f"rank={rank}\n{LINE}" for name, rank in ranks.items()}))
    assert [*found.values()] == ["chief:0", "worker:0", "worker:1"]


@pytest.mark.runs
def test_what_compose_says_of_a_container_is_of_the_task_of_its_log(make_run: MakeRun) -> None:
    """Its names have numbers that are those of other tasks, too."""
    lines = [f"{name}  | {LINE}" for name in ("chief-1", "ps-1", "ps-2")]
    run = make_run(
        {"compose.log": "".join(lines * 3) + "ps-2 exited with code 137\nps-1 exited with code 0\n"}
    )
    facts = load_tables(discover([run]), our_rules())["facts"].filter(key="exit_code")
    assert {*facts.select("worker", "value").iter_rows()} == {("ps:1", "-9"), ("ps:0", "0")}


@pytest.mark.runs
def test_concurrently_says_how_a_process_ended_behind_its_label(make_run: MakeRun) -> None:
    """What a worker runs on its way has no label of its own, and may fail."""
    lines = [f"[{name}] {LINE}" for name in ("worker-0", "worker-1")] * 3
    ends = (
        "[worker-0] python train.py exited with code 0\n[worker-1] python train.py exited with code SIGKILL\n"
    )
    run = make_run(
        {"npm.log": "".join(lines) + ends, "worker-2.log": f"python prepare.py exited with code 1\n{LINE}"}
    )
    facts = load_tables(discover([run]), our_rules())["facts"].filter(key="exit_code")
    assert {*facts.select("worker", "value").iter_rows()} == {("worker:0", "0"), ("worker:1", "-9")}


@pytest.mark.runs
def test_a_log_named_after_a_host_is_of_the_task_with_its_address(make_run: MakeRun) -> None:
    """The name of the evaluator is left over: no cluster lists it."""
    cluster = 'TF_CONFIG={"cluster": {"chief": ["np-c:2222"], "worker": ["np-w0:2222", "np-w1:2222"]}}\n'
    logs = ("np-c.log", "np-eval.log", "np-w0/out.log", "np-w1/out.log")
    found = workers_of(make_run(dict.fromkeys(logs, cluster + LINE)))
    assert [found[log] for log in logs] == ["chief:0", "evaluator:0", "worker:0", "worker:1"]


@pytest.mark.runs
def test_a_rank_in_a_job_with_a_chief_is_no_index_of_a_worker(make_run: MakeRun) -> None:
    """The leader tells of the chief; no line states the cluster."""
    met = "2026-11-26 11:18:24.7: I external/local_tsl/tsl/distributed_runtime/coordination/coordination_service.cc:553] "
    met += "/job:chief/replica:0/task:0 has connected to coordination service. Incarnation: 1\n"
    logs = {"x-chief": met + "rank=0", "x-eval": "", "x-one": "rank=1", "x-two": "rank=2"}
    found = workers_of(make_run({f"{name}.log": f"{text}\n{LINE}" for name, text in logs.items()}))
    assert [*found.values()] == ["chief:0", "evaluator:0", "worker:0", "worker:1"]


@pytest.mark.runs
def test_a_service_beside_workers_in_a_joined_log_is_none_of_them(make_run: MakeRun) -> None:
    """Docker Compose numbers the containers of every service from 1; a service may be of tf.data."""
    lines = {
        "dispatcher-1": LINE,
        "worker-1    ": CONFIG % 0 + LINE,
        "worker-2    ": CONFIG % 1 + LINE,
        "trainer-2   ": LINE,
    }
    joined = "".join(f"{name} | {line}\n" for name, text in lines.items() for line in text.splitlines())
    found = workers_of(make_run({"compose.log": joined}))
    assert found["compose.log#worker-1"] == "worker:0"
    assert found["compose.log#worker-2"] == "worker:1"
    assert found["compose.log#dispatcher-1"] is None
    assert found["compose.log#trainer-2"] is None


@pytest.mark.runs
def test_the_outputs_of_several_jobs_of_pbs_are_of_several_workers(make_run: MakeRun) -> None:
    """Standard output and error of one job, `bert.o73110` and `bert.e73110`, are of one."""
    files = {f"bert.{channel}{job}": LINE for job in (73110, 73111) for channel in "oe"}
    found = workers_of(make_run(files))
    assert found["bert.o73110"] == found["bert.e73110"] == "worker:0"
    assert found["bert.o73111"] == found["bert.e73111"] == "worker:1"


def called(*tasks: int, role: str = "worker") -> str:
    """Lines about tasks whose data a worker asked for."""
    about = "Additional GRPC error information from remote target /job:{}/replica:0/task:{}:\n"
    return LINE + "".join(about.format(role, task) for task in tasks)


@pytest.mark.runs
@pytest.mark.parametrize(
    ("logs", "tasks"),
    [
        ([called(2), called(0, 2), called(1)], ["worker:0", "worker:1", "worker:2"]),
        ([called(1), called(0), called(1)], ["chief:0", "worker:0", "worker:1"]),
        ([called(2), called(1, 2), called()], ["chief:0", "worker:0", "worker:1"]),
        ([called(1), called(0, role="chief") + called(1), called(0)], ["chief:0", "worker:0", "worker:1"]),
        ([called(2), called(0, 2), called(2)], ["chief:0", "worker:0", "worker:1"]),
        ([called(2), called(0, 3), called(1)], ["chief:0", "worker:0", "worker:1"]),
    ],
    ids=["no chief", "no more workers", "no contradiction", "a chief", "its own new peer", "too many"],
)
def test_a_master_may_be_the_first_worker(logs: list[str], tasks: list[str], make_run: MakeRun) -> None:
    """If the logs know workers alone, and one has the task in its name as a peer; a lost task may lack a log."""
    names = ("job-master-0.log", "job-worker-0.log", "job-worker-1.log")
    found = workers_of(make_run(dict(zip(names, logs, strict=True))))
    assert [found[name] for name in names] == tasks
