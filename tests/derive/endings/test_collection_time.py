"""How long running workers had been silent when `mwms-collect` began."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from analyzer.model.run import Tables
from analyzer.tables.collection_time import IN_A_ZONE
from tests.derive.logs import Line, cluster_of, derived, says, server_started, step

CLUSTER = {"worker:0": cluster_of("a:1", "b:1")}
RUNNING = {"worker:0": "running", "worker:1": "running"}
T = 1_795_225_200.0
"""A full quarter of an hour."""
TRAINING = [server_started(T), *(step(n, T + 10 * n) for n in range(1, 6))]


def collected(
    began: float,
    lines: Sequence[Line],
    ended: float | None = None,
    time_zone: str = "unstated",
    **stated: Any,
) -> Tables:
    """Two workers that ran when their files were collected, from one time to another."""
    times = (datetime.fromtimestamp(each, UTC).isoformat() for each in (began, ended or began + 5))
    facts = {"exit_code": RUNNING, "collected_at": {"": "/".join(times)}} | stated
    return derived({"worker-0.log": lines, "worker-1.log": lines}, time_zone, cluster_spec=CLUSTER, **facts)


@pytest.mark.parametrize(
    ("after", "stalled", "in_progress"),
    [
        (400.0, True, False),
        (200.0, False, True),
        (7200.0 + 20, False, True),
        (7200.0 + 400, True, False),
        (900.0, True, False),
        (13 * 3600.0, True, False),
    ],
    ids=[
        "long",
        "a pause may be so long",
        "two hours, as a time zone",
        "two hours and more",
        "a quarter, as no zone in the west",
        "farther than any zone in the west",
    ],
)
def test_a_job_that_runs_hangs_only_if_it_was_silent_for_long(
    after: float, stalled: bool, in_progress: bool
) -> None:
    """What is silent for a whole number of quarters may have a clock in another time zone."""
    job = collected(T + 50 + after, TRAINING)["job"]
    assert job.select("stalled", "in_progress").row(0) == (stalled, in_progress)


@pytest.mark.parametrize(
    ("zone", "stalled", "doubt"),
    [("unstated", False, IN_A_ZONE), ("mixed", False, IN_A_ZONE), ("UTC", True, None)],
)
def test_a_time_zone_explains_a_silence_only_if_the_logs_state_none(
    zone: str, stalled: bool, doubt: str | None
) -> None:
    """The note tells that it may."""
    job = collected(T + 50 + 7200 + 20, TRAINING, time_zone=zone)["job"]
    assert job.select("stalled", "collection_doubt").row(0) == (stalled, doubt)


def test_one_that_has_ended_was_not_silent_until_then() -> None:
    """Only what still runs is."""
    tables = collected(T + 650, TRAINING, exit_code={"worker:0": "running", "worker:1": "-9"})
    assert dict(tables["silences"].select("worker", "silent").iter_rows()) == {
        "worker:0": True,
        "worker:1": False,
    }


@pytest.mark.parametrize(("after", "shown"), [(400.0, True), (100.0, False)])
def test_servers_that_still_wait_waited_until_then(after: float, shown: bool) -> None:
    """Five minutes at least: images are pulled in minutes."""
    job = collected(T + after, [server_started(T)])["job"]
    assert job.select("never_assembled", "starting").row(0) == (shown, not shown)


@pytest.mark.parametrize(
    ("began", "ended", "doubt"),
    [
        (T, T + 5, "before the last line of the logs, by its own clock"),
        (T + 20, T + 60, None),
        (T + 40 * 86_400, T + 40 * 86_400, "more than 30 days after the last line of the logs"),
    ],
)
def test_a_clock_that_contradicts_the_logs_does_not_count(
    began: float, ended: float, doubt: str | None
) -> None:
    """The logs of a large job are read for minutes, and grow meanwhile."""
    assert collected(began, TRAINING, ended)["job"]["collection_doubt"].item() == doubt


LISTED = {"worker:0": "yes", "worker:1": "yes"}


@pytest.mark.parametrize(
    ("codes", "ended"),
    [({}, ["running", "running"]), ({"worker:1": "-9"}, ["running", "signal"])],
    ids=["nothing else", "an exit code"],
)
def test_a_pod_that_ran_when_it_was_listed_runs(codes: dict[str, str], ended: list[str]) -> None:
    """`mwms-collect` lists the pods when it collects the logs; an exit code is of a later time."""
    tables = collected(T + 500, TRAINING, exit_code=codes, pod_running=LISTED)
    assert tables["lifetimes"].sort("worker")["ended"].to_list() == ended
    assert tables["job"]["stalled"].item() is (not codes)


def test_a_list_of_pods_without_its_time_does_not_tell_the_end() -> None:
    """It may be older than the end of the job."""
    facts = {"cluster_spec": CLUSTER, "pod_running": LISTED}
    tables = derived({"worker-0.log": TRAINING, "worker-1.log": TRAINING}, **facts)
    assert set(tables["lifetimes"]["ended"]) == {"unknown"}
    assert not tables["job"]["stalled"].item()


def test_a_job_that_hangs_states_for_how_long() -> None:
    """From the last step of any worker to the last time that is known; a job that goes on states nothing."""
    assert collected(T + 50 + 900, TRAINING)["job"]["stood"].item() == "this lasted 15 min"
    assert collected(T + 50 + 13 * 3600, TRAINING)["job"]["stood"].item() == "this lasted 13.0 h"
    assert collected(T + 50 + 200, TRAINING)["job"]["stood"].item() is None


@pytest.mark.parametrize(
    ("after", "stalled"),
    [(720.0, False), (3000.0, False), (4000.0, True)],
    ids=["minutes", "less than an hour", "longer"],
)
def test_an_evaluation_that_a_log_announces_may_take_an_hour(after: float, stalled: bool) -> None:
    """It counts where no step follows it."""
    began = says("evaluating on 1,200,000 rows", T + 51, {"evaluates": "evaluating"})
    job = collected(T + 50 + after, [*TRAINING, began])["job"]
    assert job.select("stalled", "in_progress").row(0) == (stalled, not stalled)
    assert (job["evaluates"].item() is None) is stalled
    assert collected(T + 60 + after, [*TRAINING, began, step(6, T + 60)])["job"]["stalled"].item()


def test_an_evaluation_explains_nothing_where_a_worker_is_behind() -> None:
    """The others wait for it."""
    began = says("evaluating on 1,200,000 rows", T + 51, {"evaluates": "evaluating"})
    at = datetime.fromtimestamp(T + 770, UTC).isoformat()
    logs = {"worker-0.log": [*TRAINING, began], "worker-1.log": TRAINING[:-1]}
    job = derived(logs, cluster_spec=CLUSTER, exit_code=RUNNING, collected_at={"": f"{at}/{at}"})["job"]
    assert job["evaluates"].item() is None


def test_an_evaluation_in_a_log_without_times() -> None:
    """No worker can be called silent there, and the evaluation still explains why no step follows."""
    lines = [step(1), step(2), says("evaluating on 1,200,000 rows", facts={"evaluates": "evaluating"})]
    tables = derived({"worker-0.log": lines}, exit_code={"worker:0": "running"})
    assert tables["silences"].is_empty()
    assert tables["job"]["evaluates"].item() is not None
