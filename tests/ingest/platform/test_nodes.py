"""Nodes that were not usable, as kubectl and scontrol describe them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from analyzer.discover import kind_of
from analyzer.model.run import Tables
from analyzer.model.source_kinds import Kind

TablesOf = Callable[[Mapping[str, str]], Tables]
LOG = {"worker-0.log": "step 1 loss 0.5\n"}

SLURM = """\
NodeName=node1 Arch=x86_64 CoresPerSocket=1
   CPUAlloc=0 CPUEfctv=2 CPUTot=2 CPULoad=0.10
   State=IDLE ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A
   Partitions=debug

NodeName=node2 CoresPerSocket=1
   State=DOWN* ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A
   Reason=Not responding [slurm@2026-11-21T02:08:30]

NodeName=node3 Arch=x86_64 CoresPerSocket=1
   State=MIXED+DRAIN+PLANNED ThreadsPerCore=1 TmpDisk=0
   Reason=gpu ECC errors [root@2026-11-20T10:00:00]
"""
ONE_LINE = "NodeName=node4 Arch=x86_64 State=DOWN+NOT_RESPONDING ThreadsPerCore=1 Reason=Not responding [slurm@2026-11-21T02:08:30]\n"


def node(name: str, **conditions: tuple[str, str]) -> dict[str, Any]:
    """Return a node of Kubernetes; a condition is (status, message)."""
    told = [
        {"type": kind, "status": status, "message": message, "lastTransitionTime": "2026-11-21T02:08:30Z"}
        for kind, (status, message) in conditions.items()
    ]
    return {"kind": "Node", "metadata": {"name": name}, "status": {"conditions": told}}


WELL = node("gpu20", MemoryPressure=("False", "enough"), Ready=("True", "kubelet is posting ready status"))
LOST = node(
    "gpu21", MemoryPressure=("Unknown", "?"), Ready=("Unknown", "Kubelet stopped posting node status.")
)
FULL = node("gpu22", DiskPressure=("True", "disk is full"), Ready=("True", ""))
KUBERNETES = json.dumps({"kind": "List", "items": [WELL, LOST, FULL]}, indent=1)


def problems(tables: Tables) -> list[tuple[int, str]]:
    """Line and text of the problems of nodes."""
    facts = tables["facts"]
    return facts.filter(facts["key"] == "node_problem").select("line", "value").rows()


def test_nodes_of_slurm_that_are_down_or_drained_are_told(tables_of: TablesOf) -> None:
    """With the controller's reason and its time, on several lines or on one."""
    tables = tables_of({**LOG, "scontrol.nodes": SLURM, "scontrol-show-node.txt": ONE_LINE})
    assert sorted(problems(tables)) == [
        (1, "node4 DOWN+NOT_RESPONDING: Not responding (since 2026-11-21T02:08:30)"),
        (7, "node2 DOWN+NOT_RESPONDING: Not responding (since 2026-11-21T02:08:30)"),
        (11, "node3 DRAIN: gpu ECC errors (since 2026-11-20T10:00:00)"),
    ]


@pytest.mark.parametrize("name", ["nodes.json", "get-nodes.json"])
def test_nodes_of_kubernetes_that_are_not_ready_or_under_pressure_are_told(
    name: str, tables_of: TablesOf
) -> None:
    """With the kubelet's message and the time of the change; one node alone is no list."""
    told = [value for _, value in problems(tables_of({**LOG, name: KUBERNETES}))]
    assert told == [
        "gpu21 NotReady: Kubelet stopped posting node status. (since 2026-11-21T02:08:30Z)",
        "gpu22 DiskPressure: disk is full (since 2026-11-21T02:08:30Z)",
    ]
    assert len(problems(tables_of({**LOG, name: json.dumps(LOST)}))) == 1


@pytest.mark.parametrize(
    ("name", "text"), [("nodes.json", "{"), ("scontrol.nodes", "slurm_load_node error: Unable to contact\n")]
)
def test_what_is_no_description_of_nodes_is_damage(name: str, text: str, tables_of: TablesOf) -> None:
    """Nothing is lost in silence."""
    assert tables_of({**LOG, name: text})["damage"].height == 1


def test_files_of_the_collector_are_known_by_name() -> None:
    """And the list of pods is not taken for one of nodes."""
    assert kind_of("nodes.json") is Kind.NODES
    assert kind_of("slurm/scontrol.nodes") is Kind.NODES
    assert kind_of("scontrol.job") is Kind.SACCT
    assert kind_of("get-pods.json") is Kind.PODS
