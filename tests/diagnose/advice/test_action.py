"""Whether a machine is to be excluded when the job starts again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analyzer.pipeline import analyze

MakeRun = Callable[[Mapping[str, str]], Path]
DEVICE = "I0000 00:00:1795661377.957952 925 gpu_device.cc:2043] Created device /job:worker/replica:0/task:0/device:GPU:0 with 135051 MB memory:  -> device: 0, name: NVIDIA H200, pci bus id: 0000:00:06.0, compute capability: 9.0a\n"
NO_DEVICE = (
    "E0000 00:00:1795661376.054262 926 cuda_platform.cc:52] failed call to cuInit: INTERNAL: "
    "CUDA error: Failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n"
    "I0000 00:00:1795661376.054353 926 cuda_diagnostics.cc:183] hostname: gpu2\n"
)
FAULT = "NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, name=python, GPU has fallen off the bus.\n"


@pytest.mark.runs
@pytest.mark.parametrize(
    ("hosts", "error", "exclude"),
    [
        (["10.0.0.4", "10.0.0.5"], NO_DEVICE, ["gpu2"]),
        (["10.0.0.4", "10.0.0.4"], NO_DEVICE, []),
        (["10.0.0.4", "10.0.0.4"], NO_DEVICE + FAULT, ["gpu2"]),
        (["10.0.0.4", "10.0.0.5", "10.0.0.5"], NO_DEVICE, ["gpu2"]),
    ],
    ids=["two machines", "one machine", "one machine that is broken", "two culprits on one machine"],
)
def test_the_only_machine_is_excluded_for_its_hardware_alone(
    make_run: MakeRun, hosts: list[str], error: str, exclude: list[str]
) -> None:
    """Where another worker trains on the same one, another reason is not the machine's."""
    cluster = {"worker": [f"{host}:{port}" for port, host in enumerate(hosts, 2222)]}
    configs = {
        f"tf_config-{index}.json": json.dumps(
            {"cluster": cluster, "task": {"type": "worker", "index": index}}
        )
        for index in range(len(hosts))
    }
    logs = {
        f"worker-{index}.log": error.replace(" 926 ", f" {926 + index} ") if index else DEVICE
        for index in range(len(hosts))
    }
    action = analyze([make_run(logs | configs)]).document["action"]
    assert action["exclude"] == exclude
    assert (action["retry"] == "exclude_host") == bool(exclude)


SERVER = "2026-11-21 01:40:36.5: I tensorflow/x/rpc/grpc_server_lib.cc:438] Started server with target: grpc://10.2.7.{}:29500\n"
LOST_IT = """\
step 20 loss 0.5
2026-11-21 01:40:37.7: E tensorflow/core/common_runtime/ring_alg.cc:290] Aborting RingReduce with UNAVAILABLE: Connection reset by peer
Additional GRPC error information from remote target /job:worker/replica:0/task:1:
Traceback (most recent call last):
  File "/workspace/train.py", line 109, in <module>
    train()
tensorflow.python.framework.errors_impl.UnavailableError: Collective ops is aborted by: Connection reset by peer
Additional GRPC error information from remote target /job:worker/replica:0/task:1:
"""
SLURM = {
    "slurm-7_0.out": SERVER.format(7) + LOST_IT,
    "slurm-7_1.out": SERVER.format(12) + "step 20 loss 0.5\n",
    "sacct.txt": "JobID|JobName|State|ExitCode|NodeList\n7|rec|NODE_FAIL|1:0|node[7,12]\n",
}
CONTROLLER = "[2026-11-21T01:40:38.000] Killing JobId=7 on failed node {}\n"


@pytest.mark.runs
@pytest.mark.parametrize(
    ("failed", "exclude"),
    [(["node12"], ["node12"]), ([], ["10.2.7.12"]), (["node12", "node90"], ["10.2.7.12"])],
    ids=["named", "unnamed", "several jobs lost nodes"],
)
def test_the_node_that_failed_is_excluded(make_run: MakeRun, failed: list[str], exclude: list[str]) -> None:
    """By the name that Slurm knows, where the controller's log names one only."""
    controller = {"slurmctld.txt": "".join(map(CONTROLLER.format, failed))} if failed else {}
    document = analyze([make_run(SLURM | controller)]).document
    assert document["culprits"] == ["worker:1"]
    action = document["action"]
    assert (action["retry"], action["owner"], action["exclude"]) == ("exclude_host", "platform", exclude)


@pytest.mark.runs
@pytest.mark.parametrize(
    ("status", "retry", "exclude"),
    [
        ({"reason": "NodeLost", "message": "Node n12 which was running pod b-worker-1 is unresponsive"}, "exclude_host", ["n12"]),
        ({"reason": "Unknown", "message": "the pod is slow"}, "as_is", []),
    ],
    ids=["node lost", "near miss"],
)  # fmt: skip
def test_the_node_that_kubernetes_lost_is_excluded(
    make_run: MakeRun, status: dict[str, str], retry: str, exclude: list[str]
) -> None:
    """The pod says so, though its container is still listed as running."""
    pod = {
        "kind": "Pod",
        "metadata": {"name": "b-worker-1"},
        "spec": {"nodeName": "n12"},
        "status": {"phase": "Running", **status},
    }
    logs = {"b-worker-0.log": SLURM["slurm-7_0.out"], "b-worker-1.log": SLURM["slurm-7_1.out"]}
    document = analyze([make_run({**logs, "pods.json": json.dumps(pod, indent=1)})]).document
    assert document["culprits"] == ["worker:1"]
    assert (document["action"]["retry"], document["action"]["exclude"]) == (retry, exclude)
    assert "host" not in document["action"]
