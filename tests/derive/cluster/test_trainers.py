"""Which tasks of a cluster train, and which only serve."""

from __future__ import annotations

import json

import pytest

from tests.derive.logs import derived, says


@pytest.mark.parametrize("leader", ["chief", "master"])
def test_the_leader_trains_and_a_parameter_server_serves(leader: str) -> None:
    """TensorFlow 1 calls the leader of a cluster `master`, too."""
    spec = json.dumps({leader: ["a:1"], "ps": ["b:1"]})
    workers = derived({"ps-0.log": [says("serving")]}, cluster_spec={"ps:0": spec})["workers"]
    assert dict(workers.select("worker", "trains").iter_rows()) == {f"{leader}:0": True, "ps:0": False}
