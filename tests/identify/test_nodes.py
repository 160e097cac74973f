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
