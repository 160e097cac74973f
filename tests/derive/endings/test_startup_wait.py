"""A wait at start-up that lasted, and one that had only begun."""

from collections.abc import Mapping

import pytest

from analyzer.model.run import Tables
from tests.derive.logs import Line, cluster_of, derived, error, raised, says, server_started

CLUSTER = {"worker:0": cluster_of("a:1", "b:1")}


def waiting(
    *later: Line, start: float = 100.0, stated: Mapping[str, Mapping[str, str]] | None = None
) -> Tables:
    """Two servers that wait for each other; `later` is what the first worker logs next."""
    logs = {"worker-0.log": [server_started(90.0), *later], "worker-1.log": [server_started(start)]}
    return derived(logs, cluster_spec=CLUSTER, **(stated or {}))


def test_servers_that_have_just_started_show_no_failed_start() -> None:
    """Whatever lies between their starts: the later one may have come late, and be about to connect."""
    job = waiting(start=900.0)["job"]
    assert job.select("waited", "wait_shown", "starting", "never_assembled").row(0) == (
        0.0,
        False,
        True,
        False,
    )


@pytest.mark.parametrize(
    "line",
    [
        says("still here", 110.0),
        says("SIGTERM caught", facts={"sigterm": "yes"}),
        says("CreateSession still waiting", facts={"awaits": "worker:1", "awaited_long": "yes"}),
        raised("KeyboardInterrupt"),
        error("/job:worker/replica:0/task:1 seems down, retrying 1/3", level="W"),
    ],
    ids=["10 s later", "SIGTERM", "a session that waits", "interrupted", "a lost peer"],
)
def test_time_or_an_end_shows_that_the_wait_was_in_vain(line: Line) -> None:
    """Each of them alone."""
    job = waiting(line)["job"]
    assert job.select("wait_shown", "starting").row(0) == (True, False)


@pytest.mark.parametrize(("key", "shown"), [("exit_code", True), ("given_up", True), ("attributed", False)])
def test_an_exit_code_shows_the_end_of_a_wait(key: str, shown: bool) -> None:
    """So does a launcher that gave the worker up."""
    assert waiting(stated={key: {"worker:1": "1"}})["job"]["wait_shown"].item() is shown


def test_a_cluster_that_a_worker_saw_complete_was_assembled() -> None:
    """However long another one is silent after it: it waits for something else."""
    job = waiting(says("Waiting for 0/2 tasks", 100.0, {"assembled": "0/2"}), says("SIGTERM", 200.0))["job"]
    assert job.select("wait_shown", "never_assembled", "starting").row(0) == (True, False, False)


def test_a_worker_that_is_still_on_its_way_to_its_server_has_not_waited() -> None:
    """The others may have waited for it for minutes: it has come now."""
    logs = {"worker-0.log": [server_started(90.0)], "worker-1.log": [says("oneDNN is on", 400.0)]}
    assert derived(logs, cluster_spec=CLUSTER)["job"].select("waited", "wait_shown").row(0) == (0.0, False)


@pytest.mark.parametrize(("last", "phase"), [(True, "server_up"), (False, "joined")])
def test_a_worker_that_says_it_waits_has_not_joined(*, last: bool, phase: str) -> None:
    """TensorFlow 2.4 logs its strategy before it waits for the others; a line after the wait ends it."""
    strategy = says("Using MirroredStrategy with devices ('/job:worker/task:0',)", 91.0)
    wait = says("Waiting for the cluster, timeout = inf", 92.0)
    after = [] if last else [says("Cluster is ready.", 93.0)]
    lives = waiting(strategy, wait, *after)["lifetimes"]
    assert lives.filter(worker="worker:0")["phase"].to_list() == [phase]
