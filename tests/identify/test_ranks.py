"""Names that number all tasks of a cluster, the chief first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analyzer.discover import discover
from analyzer.pipeline import load_tables
from tests.rules import our_rules

pytestmark = pytest.mark.runs

LINE = "step 1 loss 0.5\n"
WITH_CHIEF = """\
INFO:tensorflow:MultiWorkerMirroredStrategy with cluster_spec = {{'chief': ['a:1'], 'worker': ['b:1', 'c:1']}}, \
task_type = '{}', task_id = {}, num_workers = 3
"""


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        pytest.param(("worker", 1), ["chief:0", "worker:0", "worker:1"], id="ranks"),
        pytest.param(("worker", 0), ["worker:0", "worker:1", "worker:2"], id="a task stated twice"),
    ],
)
@pytest.mark.parametrize(
    "names", [("algo-1", "algo-2", "algo-3"), ("bert-worker-0", "bert-worker-1", "bert-worker-2")]
)
def test_names_may_count_the_chief(
    make_run: Callable[[Mapping[str, str]], Path],
    last: tuple[str, int],
    expected: list[str],
    names: tuple[str, ...],
) -> None:
    """As SageMaker's hosts and the pods of a stateful set do, if all logs say so."""
    logs = [WITH_CHIEF.format(*task) for task in (("chief", 0), ("worker", 0), last)]
    files = {f"{name}.log": LINE + text for name, text in zip(names, logs, strict=True)}
    tables = load_tables(discover([make_run({**files, "exit_codes.txt": f"{names[2]} 139\n"})]), our_rules())
    found = dict(tables["sources"].select("source", "worker").iter_rows())
    assert [found[each] for each in files] == expected
    codes = tables["facts"].filter(tables["facts"]["key"] == "exit_code")
    assert codes["worker"].to_list() == expected[2:]


def test_ranks_before_lines_may_count_the_chief(make_run: Callable[[Mapping[str, str]], Path]) -> None:
    """As `srun --label` puts them: rank 0 is the chief where every task says so."""
    tasks = (("chief", 0), ("worker", 0), ("worker", 1))
    lines = [
        f"{rank}: {line}"
        for rank, task in enumerate(tasks)
        for line in (WITH_CHIEF.format(*task) + LINE).splitlines()
    ]
    tables = load_tables(discover([make_run({"slurm-7.out": "\n".join(lines) + "\n"})]), our_rules())
    found = dict(tables["sources"].select("source", "worker").iter_rows())
    assert [found[f"slurm-7.out#{rank}"] for rank in range(3)] == ["chief:0", "worker:0", "worker:1"]


LOST = (
    "2026-11-21 01:40:38.1: E x.cc:1] Aborting RingReduce with UNAVAILABLE: Socket closed\n"
    "Additional GRPC error information from remote target /job:worker/replica:0/task:{}:\n"
)
JOINED = "/job:worker/replica:0/task:{} has connected to coordination service. Incarnation: 7\n"


@pytest.mark.parametrize(("tasks", "of_hosts"), [((0, 1), True), ((0,), True), ((0, 1, 22), False)])
def test_numbers_of_hosts_are_no_indices(
    tasks: tuple[int, ...], of_hosts: bool, make_run: Callable[[Mapping[str, str]], Path]
) -> None:
    """Where the logs speak of none by the number of a host, and one of them is the leader's, task 0."""
    leader = "".join(f"I0000 00:00:1795224705.563885 6 x.cc:1] {JOINED.format(task)}" for task in tasks)
    run = make_run({"node21.log": LINE, "node22.log": leader + LINE})
    found = load_tables(discover([run]), our_rules())["sources"]["worker"].to_list()
    assert found == (["worker:1", "worker:0"] if of_hosts else ["worker:21", "worker:22"])


@pytest.mark.parametrize(("lost", "of_hosts"), [((0, 2), True), ((2,), False), ((0, 16), False)])
def test_hosts_with_gaps_between_their_numbers(
    lost: tuple[int, ...], of_hosts: bool, make_run: Callable[[Mapping[str, str]], Path]
) -> None:
    """Half of the tasks, counted from 0, tell; one task, or one beyond the number of logs, does not."""
    calls = "".join(LOST.format(task) for task in lost)
    run = make_run({"node14.log": LINE, "node15.log": calls + LINE, "node17.log": LINE})
    found = load_tables(discover([run]), our_rules())["sources"]["worker"].to_list()
    assert (found[1] == "worker:1") is of_hosts
    assert of_hosts or found == ["worker:14", "worker:15", "worker:17"]


def test_numbers_of_hosts_may_follow_those_of_lost_tasks(
    make_run: Callable[[Mapping[str, str]], Path],
) -> None:
    """Each log lost one of the two tasks whose logs are missing."""
    lost = {"node2.log": 0, "node3.log": 1, "node4.log": 0}
    run = make_run({name: LOST.format(task) + LINE for name, task in lost.items()})
    found = load_tables(discover([run]), our_rules())["sources"]["worker"].to_list()
    assert found == ["worker:2", "worker:3", "worker:4"]


@pytest.mark.parametrize(("tasks", "of_hosts"), [((0, 1, 2), True), ((0, 2, 5), False)])
def test_logs_that_say_their_tasks_are_not_numbered_by_their_hosts(
    tasks: tuple[int, ...], of_hosts: bool, make_run: Callable[[Mapping[str, str]], Path]
) -> None:
    """`node02` can be task 0, if all say which they are and leave none out."""
    start = "2026-11-21 01:40:38 INFO start replicas=3 task={}\nstep 1 loss 0.5\n"
    names = ("node02.log", "node03.log", "node05.log")
    run = make_run({name: start.format(task) for name, task in zip(names, tasks, strict=True)})
    found = load_tables(discover([run]), our_rules())["sources"]["worker"].to_list()
    assert found == (
        ["worker:0", "worker:1", "worker:2"] if of_hosts else ["worker:2", "worker:3", "worker:5"]
    )


LEADS = "I0000 00:00:1795225680.113 11460 coordination_service.cc:241] Initializing CoordinationService\n"
COUNTS = "2026-11-21 01:40:38 INFO Number of replicas in sync: 2\n"


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (("host0/out.log", "host1/out.log"), ["worker:1", "worker:0"]),
        (("node1/out.log", "node2/out.log"), ["worker:1", "worker:0"]),
        (("worker-0/out.log", "worker-1/out.log"), ["worker:0", "worker:1"]),
        (("node0/worker-0.log", "node1/worker-1.log"), ["worker:0", "worker:1"]),
    ],
)
def test_the_leader_on_a_host_of_another_number(
    names: tuple[str, str], told: list[str], make_run: Callable[[Mapping[str, str]], Path]
) -> None:
    """A scheduler places any task on any host; only a name that says `worker` states a task."""
    run = make_run({names[0]: LINE, names[1]: LEADS + LINE})
    assert load_tables(discover([run]), our_rules())["sources"]["worker"].to_list() == told


def test_what_lies_beside_the_log_of_a_host_goes_with_it(
    make_run: Callable[[Mapping[str, str]], Path],
) -> None:
    """Its event files, and an exit code that is written down for the host."""
    files = {"host0/out.log": LINE, "host1/out.log": LEADS + LINE, "exit_codes.txt": "host0 0\nhost1 -9\n"}
    packages = "tensorflow==2.15.1\nnumpy==1.26.4\nabsl-py==2.1.0\n"
    run = make_run({**files, "host1/pip-freeze.txt": packages})
    tables = load_tables(discover([run]), our_rules())
    sources = dict(tables["sources"].select("source", "worker").iter_rows())
    assert sources["host1/pip-freeze.txt"] == "worker:0"
    assert tables["lifetimes"].filter(exit_code=-9)["worker"].to_list() == ["worker:0"]


@pytest.mark.parametrize(
    ("counts", "told"),
    [("", ["worker:1", "worker:2"]), (COUNTS, ["worker:0", "worker:1"])],
)
def test_the_number_of_a_host_is_a_guess(
    counts: str, told: list[str], make_run: Callable[[Mapping[str, str]], Path]
) -> None:
    """It stays where nothing contradicts it; two replicas of two logs are those of the tasks 0 and 1."""
    tables = load_tables(discover([make_run({"node1.log": counts + LINE, "node2.log": LINE})]), our_rules())
    assert tables["sources"]["worker"].to_list() == told
    guessed = tables["workers"].filter("seen")["guessed"]
    assert all("by the number in its name" in each for each in guessed)


CREATED = "2026-11-27 14:07:10.264803: I tensorflow/core/distributed_runtime/eager/eager_service_impl.cc:312] Creating sync eager service context with rendezvous_id on host vm /job:{}/replica:0/task:0\n"


@pytest.mark.parametrize(
    ("others", "first"),
    [(("ps", "worker"), "chief:0"), (("worker", "ps"), "chief:0"), (("ps", "ps"), "worker:0")],
    ids=["the server first", "the worker first", "one task twice"],
)
def test_a_coordinator_is_the_first_of_the_ranks(
    make_run: Callable[[Mapping[str, str]], Path], others: tuple[str, str], first: str
) -> None:
    """Beside a parameter server and a worker, whose devices TensorFlow logs; no log states the cluster."""
    lines = [
        f"0: {LINE}" * 2,
        *(f"{rank}: {CREATED.format(role)}" * 2 for rank, role in enumerate(others, 1)),
    ]
    tables = load_tables(discover([make_run({"slurm-7.out": "".join(lines)})]), our_rules())
    found = dict(tables["sources"].select("source", "worker").iter_rows())
    assert found["slurm-7.out#0"] == first
    if first == "chief:0":
        assert [found[f"slurm-7.out#{rank}"] for rank in (1, 2)] == [f"{role}:0" for role in others]


@pytest.mark.parametrize(
    ("claimed", "expected"), [((0, 1), ["worker:0", "worker:1"]), ((1, 2), ["worker:1", "worker:2"])]
)
def test_numbers_before_lines_may_count_from_1(
    make_run: Callable[[Mapping[str, str]], Path], claimed: tuple[int, int], expected: list[str]
) -> None:
    """As GNU parallel's `--tag` does: if the logs themselves say so, for ranks of MPI count from 0."""
    addresses = ["a:1", "b:1", "c:1"][: max(claimed) + 1]
    config = WITH_CHIEF.replace("'chief': ['a:1'], 'worker': ['b:1', 'c:1']", f"'worker': {addresses}")
    lines = [
        f"[{number}] {line}"
        for text in (LINE, config)
        for number, index in zip((1, 2), claimed, strict=True)
        for line in (text.format("worker", index) + LINE).splitlines()
    ]
    tables = load_tables(discover([make_run({"console.log": "\n".join(lines) + "\n"})]), our_rules())
    found = dict(tables["sources"].select("source", "worker").iter_rows())
    assert [found[f"console.log#{number}"] for number in (1, 2)] == expected


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        pytest.param(1, ["chief:0", "worker:0", "worker:1"], id="workers count from 1"),
        pytest.param(0, ["chief:0", "worker:1", "worker:2"], id="a task stated twice"),
    ],
)
def test_workers_beside_a_chief_may_count_from_1(
    make_run: Callable[[Mapping[str, str]], Path], last: int, expected: list[str]
) -> None:
    """The chief is then the process before the first of them."""
    names = ("chief", "worker-1", "worker-2")
    tasks = (("chief", 0), ("worker", 0), ("worker", last))
    files = {f"{name}.log": LINE + WITH_CHIEF.format(*task) for name, task in zip(names, tasks, strict=True)}
    tables = load_tables(discover([make_run(files)]), our_rules())
    found = dict(tables["sources"].select("source", "worker").iter_rows())
    assert [found[each] for each in files] == expected
