"""Problems of nodes belong to the workers that ran on them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from analyzer.model.run import Tables

TablesOf = Callable[[Mapping[str, str]], Tables]
LOG = "step 1 loss 0.5\n"


def problems(tables: Tables) -> list[tuple[str | None, str]]:
    """Return worker and node of each problem."""
    facts = tables["facts"].filter(tables["facts"]["key"] == "node_problem")
    return sorted(
        ((worker, value.split()[0]) for worker, value in facts.select("worker", "value").rows()), key=str
    )


def down(*names: str) -> str:
    """Return nodes as scontrol describes them."""
    return "".join(f"NodeName={name} Arch=x86_64 State=DOWN ThreadsPerCore=1\n" for name in names)


def pod(worker: int, node: str) -> dict[str, object]:
    """Return a pod of the job `bert`."""
    return {"kind": "Pod", "metadata": {"name": f"bert-worker-{worker}"}, "spec": {"nodeName": node}}


def test_a_pod_names_the_node_of_its_worker(tables_of: TablesOf) -> None:
    """With a domain or without, and two workers on one node; a node without a worker stays without."""
    pods = [pod(0, "gpu20"), pod(1, "gpu21.example.org"), pod(2, "gpu21")]
    files = {f"worker-{n}.log": LOG for n in range(3)}
    given = {
        **files,
        "pods.json": json.dumps({"items": pods}, indent=1),
        "scontrol.nodes": down("gpu21", "gpu29"),
    }
    assert problems(tables_of(given)) == [
        ("worker:1", "gpu21"), ("worker:2", "gpu21"), (None, "gpu29"),
    ]  # fmt: skip


def test_srun_names_the_node_of_a_task_that_it_saw_end(tables_of: TablesOf) -> None:
    """Though it ends all tasks for the sake of one node; it does not say where a task ran that it lost."""
    ended = "srun: error: n1: task 0: Killed\nsrun: error: n2: tasks 1-2: Killed\n"
    failed = "srun: error: Node failure on n2\nsrun: error: Node failure on n3\n"
    steps = "".join(f"{rank}: step {step} loss 0.5\n" for step in (1, 2) for rank in range(4))
    found = problems(tables_of({"slurm-7.out": steps + failed + ended}))
    assert found == [("worker:1", "n2"), ("worker:2", "n2"), (None, "n3")]


@pytest.mark.parametrize(
    ("second", "worker"), [(["10.0.0.1:1", "10.0.0.2:1"], "worker:1"), (["10.0.0.2:1", "10.0.0.1:1"], None)]
)
def test_an_address_names_the_node_unless_specifications_differ(
    second: list[str], worker: str | None, tables_of: TablesOf
) -> None:
    """Nodes that are named by their address differ in more than the first number."""
    specs = (["10.0.0.1:1", "10.0.0.2:1"], second)
    given = {f"worker-{n}.log": LOG for n in range(2)}
    for n, spec in enumerate(specs):
        given[f"tf_config-{n}.json"] = json.dumps(
            {"cluster": {"worker": spec}, "task": {"type": "worker", "index": n}}
        )
    assert problems(tables_of({**given, "scontrol.nodes": down("10.0.0.2")})) == [(worker, "10.0.0.2")]


@pytest.mark.parametrize(
    ("more", "hosts"),
    [
        ({"collected_from.txt": "ssh\nnode=1\tnode-1.lab\ngpu22\tgpu22\n"}, {"worker:0": "node-1.lab", "worker:1": "gpu22"}),
        ({"gpu22/kernel.log": "[Sat Nov 21 02:08:30 2026] usb 1-1: new device\n"}, {"worker:0": "node=1", "worker:1": "gpu22"}),
        ({"job/kernel.log": "[Sat Nov 21 02:08:30 2026] usb 1-1: new device\n"}, {}),
        ({"gpu22/dmesg-node12.txt": "[Sat Nov 21 02:08:30 2026] usb 1-1: new device\n"}, {}),
        ({"gpu22/dmesg-gpu22.txt": "[Sat Nov 21 02:08:30 2026] usb 1-1: new device\n"}, {"worker:0": "node=1", "worker:1": "gpu22"}),
        ({}, {}),
    ],
    ids=["listed", "with a kernel log", "a kernel log elsewhere", "a kernel log of another host", "a kernel log that names the host", "nothing of a host"],
)  # fmt: skip
def test_a_directory_of_a_host_names_the_host_of_its_worker(
    more: Mapping[str, str], hosts: Mapping[str, str], tables_of: TablesOf
) -> None:
    """As `mwms-collect ssh` and people lay them out; other directories may be named after anything."""
    tables = tables_of({"node=1/worker-0.log": LOG, "gpu22/worker-1.log": LOG, **more})
    found = tables["facts"].filter(key="host").select("worker", "value")
    assert dict(found.rows()) == hosts


@pytest.mark.parametrize(
    ("worker", "blamed"), [("n2:2222", "worker:0"), ("n1:2222", None)], ids=["alone", "beside the server"]
)
def test_the_number_of_a_step_s_task_is_no_index_beside_a_parameter_server(
    tables_of: TablesOf, worker: str, blamed: str | None
) -> None:
    """The step counts the server too, so that only a host with one task of the cluster tells which ended."""
    stamp = "2026-11-21 00:05:01.083826: I tensorflow/core/distributed_runtime/rpc/"
    lines = [
        f"{stamp}grpc_channel.cc:215] Initialize GrpcChannelCache for job {job} -> {{0 -> {address}}}"
        for job, address in (("ps", "n1:2222"), ("worker", worker))
    ]
    ended = f"srun: error: {worker.partition(':')[0]}: task 1: Exited with exit code 1"
    facts = tables_of({"slurm-7.out": "\n".join([*lines, ended])})["facts"]
    assert facts.filter(key="exit_code")["worker"].to_list() == [blamed]


def test_the_number_of_a_step_s_task_is_an_index_among_workers(tables_of: TablesOf) -> None:
    """A cluster of workers alone is numbered as the step is."""
    stamp = "2026-11-21 00:05:01.083826: I tensorflow/core/distributed_runtime/rpc/"
    line = (
        f"{stamp}grpc_channel.cc:215] Initialize GrpcChannelCache for job worker -> {{0 -> n1:1, 1 -> n2:1}}"
    )
    ended = "srun: error: n2: task 1: Exited with exit code 1"
    facts = tables_of({"slurm-7.out": f"{line}\n{ended}"})["facts"]
    assert facts.filter(key="exit_code")["worker"].to_list() == ["worker:1"]
