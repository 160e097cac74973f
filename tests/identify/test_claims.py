"""Which worker a log belongs to by what it, or the launcher around it, states."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from analyzer.pipeline import analyze
from tests.identify.test_workers import LINE, SERVER, workers_of

END = '{"event": "end", "time": 1795436467.5, "monotonic": 9.5, "exit_code": 3, "signal": null}\n'

pytestmark = pytest.mark.runs


PODS = {"kind": "List", "items": [{
    "kind": "Pod", "metadata": {
        "labels": {"batch.kubernetes.io/job-completion-index": "2"}, "name": "train-2-x7k2p",
    }
}]}  # fmt: skip
STATED = '{{"cluster": {{"worker": ["a:1", "b:1", "c:1"]}}, "task": {{"type": "worker", "index": {}}}}}'


@pytest.mark.parametrize(
    ("file", "text", "sure"),
    [
        ("tf_config-train-2-x7k2p.json", STATED.format(2), True),
        ("pods.json", json.dumps(PODS, indent=4), True),
        ("tf_config-train-2-x7k2p.json", STATED.format(1), False),
        ("tf_config-2.json", STATED.format(2), False),
    ],
)
def test_the_number_in_the_name_of_a_pod_is_no_guess_if_the_pod_states_it(
    file: str, text: str, sure: bool, make_run: Callable[[Mapping[str, str]], Path]
) -> None:
    """In its TF_CONFIG, or in a label; not if it states another one, or a file of another name does."""
    logs = {f"train-{n}-{pod}.log": LINE for n, pod in enumerate(("abcde", "xk2pl", "x7k2p"))}
    document = analyze([make_run({**logs, file: text})]).document
    (worker,) = [each for each in document["workers"] if each["id"] == "worker:2"]
    assert ("guessed" not in worker) is sure


@pytest.mark.parametrize(("role", "named"), [("worker", True), ("chief", False)])
def test_a_global_rank_names_the_worker(
    role: str, named: bool, make_run: Callable[[Mapping[str, str]], Path]
) -> None:
    """Only of a cluster of workers: with a chief, ranks count that one, too."""
    cluster = f'TF_CONFIG={{"cluster": {{"{role}": ["a:2222"], "worker": ["b:2222", "c:2222"]}}}}\n'
    run = make_run({"a.log": f"{cluster}Global rank: 1\n{LINE}", "b.log": f"global_rank=0\n{LINE}"})
    assert (workers_of(run) == {"a.log": "worker:1", "b.log": "worker:0"}) is named


def test_the_rank_among_the_fields_of_a_line_names_the_worker(
    make_run: Callable[[Mapping[str, str]], Path],
) -> None:
    """Unless the lines of a log have the ranks of several processes."""
    line = "INFO trainer rank={} world_size=2 step={} loss=0.5\n"
    logs = {
        "a.log": line.format(1, 1) + line.format(1, 2),
        "b.log": line.format(0, 1) + line.format(0, 2),
        "both.log": line.format(1, 1) + line.format(1, 2) + line.format(0, 2),
    }
    found = workers_of(make_run(logs))
    assert found == {"a.log": "worker:1", "b.log": "worker:0", "both.log": "worker:2"}


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("TF 2.15.0, task {}, 2 replicas", True),
        ("INFO start host=pod-f7a3 task={} replicas=2", True),
        ('{{"msg": "start", "worker_id": {}, "num_workers": 2}}', True),
        ("task={} loss of the auxiliary head", False),
        ("lost task {}, 2 workers are left", False),
        ("waiting for worker {}, 2 replicas in all", False),
        ("heartbeat ok worker_id={} workers=2", False),
        ("I am worker {}, 2 workers", True),
        ("step 3 of 9 task={} replicas=2", True),
        ("[11/27 20:33:04 run]: world size 2, rank {}", True),
        ("my rank is {}, world_size is 2", True),
        ("lost rank {}, world size 2", False),
        ("local rank: {}, world size: 2", False),
    ],
)
def test_a_task_beside_how_many_there_are_names_the_worker(
    line: str, named: bool, make_run: Callable[[Mapping[str, str]], Path]
) -> None:
    """A number of a task alone may be one of several tasks that are learnt, or a peer's."""
    logs = {name: f"{line.format(task)}\n{LINE}" for name, task in (("a.log", 1), ("b.log", 0))}
    assert (workers_of(make_run(logs)) == {"a.log": "worker:1", "b.log": "worker:0"}) is named


def test_the_number_of_a_host_is_no_index(make_run: Callable[[Mapping[str, str]], Path]) -> None:
    """The kernel's log of a node is of no worker, unless another file is of a worker with its number."""
    logs = {"worker-0.log": "step 1 loss 0.5\n", "worker-2.log": "step 1 loss 0.5\n"}
    files = logs | {f"node{number}-dmesg.txt": "NVRM: Xid (PCI:0000:c1:00): 79, x\n" for number in (2, 13)}
    found = workers_of(make_run(files))
    assert found["node2-dmesg.txt"] == "worker:2"
    assert found["node13-dmesg.txt"] is None


def test_the_devices_that_a_process_created_name_it(make_run: Callable[[Mapping[str, str]], Path]) -> None:
    """TensorFlow names them after its task once the cluster is known, and after no task before."""
    created = (
        "2026-11-21 01:40:30.1: I gpu_device.cc:1510] Created device /job:{}/device:GPU:0 with 61 MB memory\n"
    )
    run = {
        "a.log": created.format("worker/replica:0/task:1"),
        "b.log": created.format("localhost/replica:0/task:0"),
    }
    assert workers_of(make_run(run)) == {"a.log": "worker:1", "b.log": "worker:0"}


def _old_server(index: int, port: int = 2222, own: str = "localhost") -> str:
    """What a task of TensorFlow 1.x prints: its own address is `localhost`, in the cluster and as its server."""
    hosts = [f"{own if each == index else f'vm-{each}'}:{port}" for each in range(3)]
    channels = ", ".join(f"{each} -> {host}" for each, host in enumerate(hosts))
    opening = "2018-06-11 08:00:0{}.1: I tensorflow/core/distributed_runtime/rpc/"
    return (
        f"{opening.format(1)}grpc_channel.cc:215] Initialize GrpcChannelCache for job worker -> {{{channels}}}\n"
        f"{opening.format(2)}grpc_server_lib.cc:324] Started server with target: grpc://{own}:{port}\n"
    )


@pytest.mark.parametrize("names", [("x", "y", "z"), ("out-1", "out-2", "out-3")])
def test_the_place_of_localhost_in_its_own_cluster_names_a_task(
    names: Sequence[str], make_run: Callable[[Mapping[str, str]], Path]
) -> None:
    """Each log has it elsewhere; in the cluster of another log it is another task's."""
    run = {f"{name}.log": _old_server(index) for index, name in enumerate(names)}
    assert workers_of(make_run(run)) == {f"{name}.log": f"worker:{n}" for n, name in enumerate(names)}


def test_two_tasks_in_one_log_are_found_in_its_own_cluster(
    make_run: Callable[[Mapping[str, str]], Path],
) -> None:
    """A log with servers of two tasks is of no single one, and is taken apart at the second start."""
    both = _old_server(0) + _old_server(2)
    assert workers_of(make_run({"x.log": both, "y.log": _old_server(1)})) == {
        "x.log#part-a": "worker:0",
        "x.log#part-b": "worker:2",
        "y.log": "worker:1",
    }


@pytest.mark.parametrize(("tasks", "told"), [((0, 1, 2), True), ((0, 1, 1), False)])
def test_each_series_of_logs_counts_as_it_likes(
    tasks: Sequence[int], told: bool, make_run: Callable[[Mapping[str, str]], Path]
) -> None:
    """A client counts from 0 and the servers from 1, as long as each server is another task's."""
    servers = {f"server-{n}.log": _old_server(task) for n, task in enumerate(tasks, 1)}
    found = workers_of(make_run({**{f"train-{n}.log": LINE for n in range(3)}, **servers}))
    assert {name: found[name] for name in servers} == {
        name: f"worker:{task if told else n}"
        for n, (name, task) in enumerate(zip(servers, tasks, strict=True), 1)
    }
    assert {found[f"train-{n}.log"] for n in range(3)} == {"worker:0", "worker:1", "worker:2"}


@pytest.mark.parametrize(
    ("names", "workers"),
    [
        (["3.log"], ["worker:3"]),
        (["bench-3.log"], ["worker:3"]),
        (["worker-3.log"], ["worker:0", "worker:1", "worker:2", "worker:3"]),
        (["1.log", "3.log"], ["worker:0", "worker:1", "worker:2", "worker:3"]),
    ],
)
def test_the_number_of_a_lone_log_makes_no_missing_workers(
    names: Sequence[str], workers: Sequence[str], make_run: Callable[[Mapping[str, str]], Path]
) -> None:
    """It may count anything: days, or runs of a benchmark. A role beside it, or a second log, tells more."""
    document = analyze([make_run(dict.fromkeys(names, LINE))]).document
    assert [each["id"] for each in document["workers"]] == workers


def test_the_traceback_of_a_launcher_makes_no_worker(make_run: Callable[[Mapping[str, str]], Path]) -> None:
    """Ray's driver prints it without a label, below the labelled lines of the workers."""
    labelled = "".join(f"(RayTrainWorker pid={pid}, ip=10.0.3.5) {LINE}" for pid in (22, 33, 22, 33))
    driver = "Traceback (most recent call last):\nray.exceptions.ActorDiedError: The actor died.\n"
    found = workers_of(make_run({"driver.log": labelled + driver}))
    assert found == {"driver.log": None, "driver.log#pid=22": "worker:0", "driver.log#pid=33": "worker:1"}


RANKS = "(TensorflowTrainer pid=9) - (ip=10.0.3.5, pid={}) world_rank={}, local_rank=0, node_rank=0\n"


@pytest.mark.parametrize("with_session", [True, False], ids=["console and session", "console"])
def test_ray_lists_the_ranks_of_its_processes(
    make_run: Callable[[Mapping[str, str]], Path], *, with_session: bool
) -> None:
    """The logs of its session are whole, the console's copy is not; no other process of Ray is a worker."""
    console = RANKS.format(33, 0) + RANKS.format(22, 1)
    console += "".join(f"(RayTrainWorker pid={pid}) {LINE}" for pid in (22, 33, 22, 33))
    files = {f"logs/worker-{pid:056x}-01000000-{pid}.err": LINE for pid in (9, 22, 33)}
    found = workers_of(make_run({"driver.log": console, **(files if with_session else {})}))
    named = ["driver.log#pid={0}", "logs/worker-{0:056x}-01000000-{0}.err"][with_session]
    assert {name: worker for name, worker in found.items() if worker} == {
        named.format(33): "worker:0",
        named.format(22): "worker:1",
    }


def test_a_process_id_takes_no_worker_from_the_name_of_its_file(
    make_run: Callable[[Mapping[str, str]], Path],
) -> None:
    """A console of Ray on the host of one worker."""
    text = "".join(f"(Trainer pid={pid}) {LINE}" for pid in (22, 33, 22, 33))
    found = workers_of(make_run({"worker-1-console.log": text, "worker-0-console.log": LINE}))
    assert {worker for name, worker in found.items() if "#pid=" in name} == {"worker:1"}


def test_the_log_of_sparks_driver_tells_of_several_tasks(
    make_run: Callable[[Mapping[str, str]], Path],
) -> None:
    """One that tells of a single task may be that of the only worker."""
    lost = "26/11/27 14:21:23 WARN TaskSetManager: Lost task {}.0 in stage 0.0 (TID 2) (h executor 1): org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nKeyError: 'b'\n"
    driver = SERVER.format("h0") + LINE + lost.format(0)
    assert workers_of(make_run({"driver.log": driver})) == {"driver.log": "worker:0"}
    assert workers_of(make_run({"driver.log": driver + lost.format(1)})) == {"driver.log": None}


@pytest.mark.parametrize(("order", "one"), [("bbsbbs", True), ("bbss", False), ("bbsbs", False)])
def test_restarts_with_other_addresses_are_one_worker(
    order: str, one: bool, make_run: Callable[[Mapping[str, str]], Path]
) -> None:
    """Each process prints as many banners (b) before its server (s) as the first one did."""
    banner = "I0000 00:00:1795224703.563885 6 x.cc:1] This TensorFlow binary is optimized to use AVX2\n"
    lines = (banner if sign == "b" else SERVER.format(f"h{nth}") for nth, sign in enumerate(order))
    assert (workers_of(make_run({"job.log": "".join(lines) + LINE})) == {"job.log": "worker:0"}) is one


def test_files_of_one_worker_may_share_its_number(make_run: Callable[[Mapping[str, str]], Path]) -> None:
    """Nothing in them tells two tasks."""
    found = workers_of(
        make_run({"run-3-main.log": "step 1 loss 0.5\n", "run-3-extra.log": "step 1 loss 0.5\n"})
    )
    assert found == {"run-3-main.log": "worker:3", "run-3-extra.log": "worker:3"}


def test_files_that_are_no_logs_do_not_take_the_indices_of_logs(
    make_run: Callable[[Mapping[str, str]], Path],
) -> None:
    """A dump of stacks names a worker, whose own log has no number."""
    dump = 'Process 9: python train.py\nPython v3.11.4\n\nThread 9 (idle): "MainThread"\n    f (train.py:4)\n'
    logs = {f"host-{name}.log": "step 1 loss 0.5\n" for name in "ab"}
    found = workers_of(make_run({**logs, **{f"py-spy-worker-{i}.txt": dump for i in range(2)}}))
    assert {found["host-a.log"], found["host-b.log"]} == {"worker:0", "worker:1"}


def test_logs_of_one_name_in_folders_of_attempts_are_one_workers(
    make_run: Callable[[Mapping[str, str]], Path],
) -> None:
    """The name need not have a number."""
    names = [f"attempt_{number}/host-{name}.log" for number in (1, 2) for name in "ab"]
    found = workers_of(make_run(dict.fromkeys(names, "step 1 loss 0.5\n")))
    assert [found[name] for name in names] == ["worker:0", "worker:1"] * 2


def test_a_recording_is_of_the_process_beside_it(make_run: Callable[[Mapping[str, str]], Path]) -> None:
    """Its folder has the name of a host, which is no worker."""
    found = workers_of(make_run({"vm/stdout.log": LINE, "vm/recording.jsonl": END}))
    assert found["vm/recording.jsonl"] == "worker:0"


@pytest.mark.parametrize(
    ("beside", "own"),
    [
        ({}, "worker:0"),
        ({"vm/samples.jsonl": ""}, "worker:0"),
        ({"gpu/recording.jsonl": END}, None),
        ({"worker-1.log": LINE}, None),
        ({"worker-1/recording.jsonl": END}, None),
    ],
)
def test_a_recording_of_a_program_that_printed_nothing(
    make_run: Callable[[Mapping[str, str]], Path], beside: Mapping[str, str], own: str | None
) -> None:
    """It is of the only worker if nothing else is of one; of two hosts nothing tells which is which."""
    found = workers_of(make_run({"vm/recording.jsonl": END, **beside}))
    assert found["vm/recording.jsonl"] == own


@pytest.mark.parametrize(("second", "own"), [(("ps", 0), "ps:0"), (("chief", 0), "worker:1")])
def test_a_numbered_tf_config_is_of_the_task_that_it_states(
    second: tuple[str, int], own: str, make_run: Callable[[Mapping[str, str]], Path]
) -> None:
    """Unless another one states that task, too."""
    cluster = {"chief": ["a:1"], "ps": ["b:1"], "worker": ["c:1"]}
    tasks = [("chief", 0), second, ("worker", 0)]
    configs = {
        f"tf_config-{number}.json": json.dumps({"cluster": cluster, "task": {"type": role, "index": index}})
        for number, (role, index) in enumerate(tasks)
    }
    assert workers_of(make_run({**configs, "a.log": LINE}))["tf_config-1.json"] == own
