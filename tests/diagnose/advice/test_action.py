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
    ],
    ids=["two machines", "one machine", "one machine that is broken"],
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
        for index in range(2)
    }
    action = analyze([make_run({"worker-0.log": DEVICE, "worker-1.log": error, **configs})]).document[
        "action"
    ]
    assert action["exclude"] == exclude
    assert (action["retry"] == "exclude_host") == bool(exclude)
