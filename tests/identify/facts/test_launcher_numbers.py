"""Launchers that count workers from 1, beside logs that count them from 0."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from analyzer.model.run import Tables

pytestmark = pytest.mark.runs

TablesOf = Callable[[Mapping[str, str]], Tables]
LINE = "step 1 loss 0.5\n"
CLUSTER = '{"cluster": {"worker": ["a:1", "b:1"]}}'
OF_THREE = '{"cluster": {"worker": ["a:1", "b:1", "c:1"]}}'
ENDS = "worker 1 exited with code 1\nworker 2 exited with code 137\n"


@pytest.mark.parametrize(
    ("files", "ended"),
    [
        pytest.param({"tf_config.json": CLUSTER}, {"worker:0": "1", "worker:1": "-9"}, id="two workers"),
        pytest.param({"tf_config.json": OF_THREE}, {"worker:1": "1", "worker:2": "-9"}, id="three workers"),
        pytest.param({}, {"worker:1": "1", "worker:2": "-9"}, id="nobody knows how many"),
        pytest.param(
            {"tf_config.json": CLUSTER, "worker-2.log": LINE},
            {"worker:1": "1", "worker:2": "-9"},
            id="a log of the one too many",
        ),
    ],
)
def test_a_number_that_no_task_has_shows_how_a_launcher_counts(
    files: Mapping[str, str], ended: Mapping[str, str], tables_of: TablesOf
) -> None:
    """Its other numbers are then counted alike."""
    logs = {"worker-0.log": LINE, "worker-1.log": LINE, "launch.log": f"starting\n{ENDS}"}
    facts = tables_of({**logs, **files})["facts"].filter(key="exit_code")
    assert dict(facts.select("worker", "value").iter_rows()) == ended


def test_a_launcher_that_names_worker_0_counts_from_0(tables_of: TablesOf) -> None:
    """One more than the cluster has is then a fault of its own."""
    logs = {"worker-0.log": LINE, "worker-1.log": LINE, "tf_config.json": CLUSTER}
    facts = tables_of({**logs, "launch.log": f"worker 0 exited with code 1\n{ENDS}"})["facts"]
    assert {*facts.filter(key="exit_code")["worker"]} == {"worker:0", "worker:1", "worker:2"}
