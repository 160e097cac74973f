"""How many requests list an object store."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import pytest

from analyzer.triage.examine.run_discovery import find_runs
from analyzer.triage.examine.settled_runs import SettledRuns, StoredRun

pytestmark = [pytest.mark.processes, pytest.mark.xdist_group("servers")]

NOW = time.time()


def backend() -> Any:
    """What moto's server keeps objects in, one for all servers of a process."""
    from moto.s3.models import s3_backends  # its import takes longer than that of any test

    return s3_backends["123456789012"]["aws"]


def write(names: Iterable[str]) -> None:
    """Put small objects below the root, past the HTTP server."""
    for name in names:
        backend().put_object("many", f"runs/{name}", b"step 1 loss 0.5")


@pytest.fixture(autouse=True)
def _bucket(store: str, caplog: pytest.LogCaptureFixture) -> None:
    assert store
    backend().reset()
    backend().create_bucket("many", "us-east-1")
    caplog.set_level("INFO", logger="werkzeug")


def requests(
    caplog: pytest.LogCaptureFixture, known: SettledRuns | None = None, pattern: str | None = None
) -> tuple[list[str], int]:
    """Names of the runs below the root, and the number of requests that listed them."""
    caplog.clear()
    found = find_runs("s3://many/runs", NOW, lambda _: None, pattern, "", known or SettledRuns())
    names = [run.place.removeprefix("s3://many/runs/") for run in found]
    return names, sum("list-type=2" in record.getMessage() for record in caplog.records)


def settled(names: Iterable[str], **but: int | None) -> SettledRuns:
    """Runs of the history: of one file each, or of so many."""
    runs = (StoredRun(f"s3://many/runs/{name}", "", "2026-11-01", but.get(name, 1)) for name in names)
    return SettledRuns(runs, NOW)


def test_a_first_listing_takes_a_request_per_thousand_objects(caplog: pytest.LogCaptureFixture) -> None:
    """However many runs they belong to, at whatever depth; the runs are those that a disk would show.

    With `--runs`, only keys that begin as the pattern does are listed.
    """
    for first, expected in ((0, 1), (300, 2)):
        write(f"team-{n % 3}/job-{n}/worker-{w}/out.log" for n in range(first, first + 300) for w in (0, 1))
        found, count = requests(caplog)
        assert (len(found), count) == (first + 300, expected)
        assert "team-1/job-1" in found
    found, count = requests(caplog, pattern="team-1/job-*")
    assert (len(found), count) == (200, 1)
    assert {name.split("/")[0] for name in found} == {"team-1"}


@pytest.mark.parametrize(("runs", "pages"), [(1_000, 1), (10_000, 10)])
def test_requests_grow_with_runs_that_may_have_changed(
    caplog: pytest.LogCaptureFixture, runs: int, pages: int
) -> None:
    """Beside the names of the runs, a thousand in a request, only three new and two recent runs are listed."""
    names = [f"job-{n:05}" for n in range(runs)]
    write(f"{name}/worker-0.log" for name in names)
    big = dict.fromkeys(names[:5], 50_000)
    recent = dict.fromkeys(names[5:7])
    assert requests(caplog, settled(names[:-3], **big | recent)) == (names, pages + 5)


def test_directories_of_past_days_are_not_listed(caplog: pytest.LogCaptureFixture) -> None:
    """Unless a run in them is not settled; everything is listed where that takes fewer requests.

    An archive is a run, too, and costs no request.
    """
    names = [f"2026-11-{day:02}/{name}" for day in range(1, 11) for name in ("a", "b")]
    write(f"{name}/worker-0.log" for name in names)
    write(["2026-11-03/c/worker-0.log", "job/d.zip"])
    assert requests(caplog, settled([*names, "job/d.zip"])) == ([*names, "job/d.zip"], 2)
    every = sorted([*names, "2026-11-03/c", "job/d.zip"])
    assert requests(caplog, settled(names, **{"2026-11-03/a": None, "2026-11-01/a": 9_000})) == (every, 4)
    assert requests(caplog, settled(names, **{"2026-11-03/a": None})) == (every, 2)


def test_a_run_of_which_half_had_arrived_is_seen_whole(caplog: pytest.LogCaptureFixture) -> None:
    """The directory of one worker was taken for a run; the other one arrived beside it."""
    write(f"job/worker_{worker}/out.log" for worker in (0, 1))
    assert requests(caplog, settled(["job/worker_0"]))[0] == ["job"]
