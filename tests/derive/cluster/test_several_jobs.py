"""Workers with logs in several places, which may be of several jobs."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from analyzer.derive.cluster.several_jobs import in_several_places

NO_FACTS: dict[str, Any] = {"source": "", "key": "", "value": "", "time": None}


def log(source: str, first: float = 10.1, worker: str = "worker:0") -> dict[str, Any]:
    """A row of `sources`, of half a minute."""
    return {"source": source, "kind": "log", "worker": worker, "first_time": first, "last_time": first + 30}


def said(source: str, key: str, value: str, time: float = 10.1) -> dict[str, Any]:
    """A row of `facts`."""
    return {"source": source, "key": key, "value": value, "time": time}


def doubts(logs: list[dict[str, Any]], *facts: dict[str, Any]) -> dict[str, str]:
    """Worker → why its logs may be of several jobs."""
    return in_several_places(pl.DataFrame(logs), pl.DataFrame([NO_FACTS, *facts]))


@pytest.mark.parametrize(
    ("key", "one", "other"),
    [("server_address", "10.1.0.1:2222", "10.7.7.1:2222"), ("replicas", "3", "2"), ("num_workers", "3", "2")],
)
@pytest.mark.parametrize("form", ["{}/worker-0.log", "{}-worker-0.log"])
def test_a_worker_that_states_different_things_in_two_places(
    form: str, key: str, one: str, other: str
) -> None:
    """Directories, or what stands in a name beside the task; a copy and a named attempt say the same, or more."""
    bert, unet = form.format("bert"), form.format("unet")
    (why,) = doubts([log(bert), log(unet)], said(bert, key, one), said(unet, key, other)).values()
    assert why.startswith("bert and unet may be two jobs: worker:0 ")
    assert doubts([log(bert), log(unet)], said(bert, key, one), said(unet, key, one)) == {}
    later = "attempt-2/worker-0.log"
    assert doubts([log(bert), log(later)], said(bert, key, one), said(later, key, other)) == {}


@pytest.mark.parametrize(
    ("start", "doubted"),
    [(10.2, False), (70.3, True), (10.1 + 3_600, False), (10.2 + 3 * 3_600, True)],
    ids=["at once", "a minute later", "by a clock of another zone", "as a timer starts two jobs"],
)
def test_a_worker_that_began_twice(start: float, doubted: bool) -> None:
    """With an address that does not tell: a service keeps its own."""
    logs = [log("mon/worker-0.log"), log("tue/worker-0.log", start)]
    facts = [said(each["source"], "server_address", "train-0:2222", each["first_time"]) for each in logs]
    assert bool(doubts(logs, *facts)) is doubted


def test_the_streams_of_a_process_may_have_clocks_of_two_zones() -> None:
    """Each states another part of its start, seconds apart."""
    streams = [log("stderr/worker-0.log"), log("stdout/worker-0.log", 11.3 + 3_600)]
    server = said("stderr/worker-0.log", "server_address", "train-0:2222")
    assert doubts(streams, server, said("stdout/worker-0.log", "process_banner", "", 11.3 + 3_600)) == {}


@pytest.mark.parametrize(("hours", "doubted"), [(0.5, False), (5.3, True)])
def test_streams_of_a_worker_are_of_about_one_time(hours: float, doubted: bool) -> None:
    """Standard output may begin long after what the runtime logs; not hours."""
    logs = [log("stderr/worker-0.log"), log("stdout/worker-0.log", 40.1 + hours * 3_600)]
    assert bool(doubts(logs, said("stderr/worker-0.log", "server_address", "a:1"))) is doubted


def test_jobs_of_slurm_are_told_by_their_ids() -> None:
    """If one of them has several workers; a job for each worker is one job to the user."""
    own = [log("j1/slurm-991.out#0"), log("j1/slurm-991.out#1", worker="worker:1")]
    other = log("j2/slurm-5512.out", worker="worker:2")
    assert {*doubts([*own, other])} == {"worker:0", "worker:1", "worker:2"}
    assert doubts(own) == {}
    assert doubts([own[0], other]) == {}
