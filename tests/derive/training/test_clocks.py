"""Clocks of workers, compared at the steps that all finish together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from analyzer.discover import discover
from analyzer.model.run import Tables
from analyzer.pipeline import analyze, load_tables
from tests.recordings import SAMPLE_RUNS, Recordings, sample_run_named
from tests.relaid import belongs_to, rewrite, shifted, zoned
from tests.rules import our_rules

TablesOf = Callable[[Mapping[str, str]], Tables]
MakeRun = Callable[[Mapping[str, str]], Path]
WHOLE = ("verdict", "cause", "rule", "confidence", "culprits", "suspects", "witnesses")
DATED = ("collective-stalled", "healthy-late-joiner-tf215", "partition-tf215", "stop-file")
"""Runs whose logs date every step."""
HOUR, MINUTE = 3600, 60


def clocks(tables: Tables) -> dict[tuple[str, str], dict[str, Any]]:
    """(worker, kind of file) → what is known of that clock."""
    return {(row["worker"], row["kind"]): row for row in tables["clocks"].iter_rows(named=True)}


def log(step_at: Mapping[int, str], more: str = "") -> str:
    """A log that dates its steps."""
    return "".join(f"2026-11-21 {at},250 INFO train: step {n} loss 0.5\n" for n, at in step_at.items()) + more


@pytest.mark.parametrize("seconds", [7 * MINUTE, -25 * MINUTE, 3 * HOUR, -9 * HOUR, 40 * 365 * 24 * HOUR])
@pytest.mark.parametrize("worker", ["worker:0", "worker:1"])
@pytest.mark.parametrize("name", DATED)
def test_a_shifted_clock_is_found_within_its_residual(
    name: str, worker: str, seconds: int, tmp_path: Path, recordings: Recordings
) -> None:
    """Of three workers the odd one is told, be it the leader; logs and event files each have their clock."""
    run = shifted(sample_run_named(name) / "run", tmp_path / "run", worker, seconds)
    before = clocks(recordings.tables(sample_run_named(name)))
    after = clocks(load_tables(discover([run]), our_rules()))
    assert before.keys() == after.keys()
    for key, clock in after.items():
        truth = seconds if key[0] == worker else 0
        if clock["basis"] == "steps":
            assert abs(clock["offset"] - truth) <= clock["residual"] + 0.01
            assert clock["shift"] == (clock["offset"] if truth else 0.0)
        assert clock["basis"] == before[key]["basis"]
    assert after[worker, "log"]["basis"] == "steps"


@pytest.mark.parametrize(
    "sample",
    [s for s in SAMPLE_RUNS if any(belongs_to(p.relative_to(s), "worker:1") for p in s.rglob("run/*"))][::3],
    ids=lambda sample: sample.name,
)
def test_a_shifted_clock_changes_no_verdict(sample: Path, tmp_path: Path, recordings: Recordings) -> None:
    """Whether or not anything tells how far it is off."""
    before = recordings.document(sample)
    after = analyze([shifted(sample / "run", tmp_path / "run", "worker:1", 3 * HOUR)]).document
    assert {key: after[key] for key in WHOLE} == {key: before[key] for key in WHOLE}


@pytest.mark.parametrize("name", DATED)
def test_events_stay_in_their_order_when_a_clock_is_shifted(
    name: str, tmp_path: Path, recordings: Recordings
) -> None:
    """What is shown is shown by one clock, and the document says which one was off, and by how much."""
    before = recordings.document(sample_run_named(name))
    after = analyze(
        [shifted(sample_run_named(name) / "run", tmp_path / "run", "worker:1", -26 * MINUTE)]
    ).document
    told, again = (
        {(e["worker"], e["kind"], e["line"]): e["time"] for e in d["timeline"]} for d in (before, after)
    )
    assert again == {event: time and pytest.approx(time, abs=0.2) for event, time in told.items()}
    places = [(event, again[event]) for event in again if again[event] is not None]
    assert [time for _, time in places] == sorted(time for _, time in places)
    assert after["run"]["ended"] == pytest.approx(before["run"]["ended"], abs=0.2)
    assert next(each["worker"] for each in after["clocks"] if each["shift"]) == "worker:1"


def test_zones_that_are_written_down_are_no_offset(tmp_path: Path, recordings: Recordings) -> None:
    """One worker logs in Tokyo, one in UTC, one in Lima: the same moments."""
    sample = sample_run_named("stop-file")
    before = recordings.document(sample)
    run = shifted(sample / "run", tmp_path / "run", "worker:1", 0)
    for worker, hours in (("worker:0", 9), ("worker:1", 0), ("worker:2", -5)):
        for path in run.glob("*.log"):
            if belongs_to(path.relative_to(run), worker):
                rewrite(path, partial(zoned, hours=hours))
    assert "+09:00" in next(run.glob("*worker-0.log")).read_text()
    after = analyze([run]).document
    assert {key: after[key] for key in WHOLE} == {key: before[key] for key in WHOLE}
    assert all(each["shift"] == 0 and abs(each["offset"]) < 1 for each in after["clocks"])


def test_without_dated_steps_nothing_is_known(tables_of: TablesOf) -> None:
    """And nothing is taken off."""
    tables = tables_of({f"worker-{i}.log": "step 1 loss 0.5\nstep 2 loss 0.4\n" * 3 for i in range(2)})
    assert tables["clocks"].select("basis", "steps", "offset", "shift").unique().rows() == [
        ("none", 0, None, None)
    ]


def test_steps_of_workers_that_train_alone_are_no_barriers(tables_of: TablesOf) -> None:
    """Each of them goes at its own pace."""
    alone = "Number of replicas in sync: 1\n"
    tables = tables_of(
        {
            "worker-0.log": alone + log({n: f"03:00:0{n}" for n in range(1, 6)}),
            "worker-1.log": alone + log({n: f"03:09:0{n}" for n in range(1, 6)}),
        }
    )
    assert tables["clocks"]["basis"].unique().to_list() == ["none"]


def test_seconds_apart_are_one_clock(tables_of: TablesOf) -> None:
    """A straggler prints the same step later; that says nothing of its clock."""
    tables = tables_of(
        {
            "worker-0.log": log({n: f"03:00:0{n}" for n in range(1, 6)}),
            "worker-1.log": log({n: f"03:00:0{n + 2}" for n in range(1, 6)}),
        }
    )
    assert tables["clocks"].select("worker", "offset", "shift").rows() == [
        ("worker:0", 0.0, 0.0),
        ("worker:1", 2.0, 0.0),
    ]


def test_who_fell_quiet_first_is_told_by_aligned_clocks(tables_of: TablesOf) -> None:
    """Worker 1, whose clock is an hour ahead, stops twenty seconds before its peers, which go on alone."""
    apart = {
        "worker-0.log": log({n: f"03:00:{n:02}" for n in range(1, 41)}),
        "worker-1.log": log({n: f"04:00:{n:02}" for n in range(1, 21)}),
        "worker-2.log": log({n: f"03:00:{n:02}" for n in range(1, 41)}),
    }
    quiet = tables_of(apart)["silences"]
    assert quiet.select("worker", "seconds", "silent", "first").rows() == [
        ("worker:0", 0.0, False, False),
        ("worker:1", 20.0, True, True),
        ("worker:2", 0.0, False, False),
    ]


def test_a_pause_as_long_as_those_before_is_no_silence(tables_of: TablesOf) -> None:
    """It evaluates for half a minute after every fifth step."""
    pausing = {1: "03:00:01", 2: "03:00:02", 3: "03:00:40", 4: "03:00:41"}
    stop = "2026-11-21 03:01:{:02},250 INFO train: stopping\n"
    for seconds, silent in ((11, False), (50, True)):
        tables = tables_of({f"worker-{i}.log": log(pausing, stop.format(seconds)) for i in range(2)})
        assert tables["silences"]["silent"].to_list() == [silent, silent]


@pytest.mark.runs
@pytest.mark.parametrize("old", ["worker-0.log.bak", "worker-1.log.old"])
def test_the_log_of_another_night_shifts_no_clock(old: str, tables_of: TablesOf) -> None:
    """Nor does an attempt that one worker made alone; a clock that is wrong in all of them is found."""
    server = (
        "2026-11-21 {}.000000: I rpc/grpc_server_lib.cc:457] Started server with target: grpc://h{}:2222\n"
    )
    tonight = {n: f"03:00:0{n}" for n in range(1, 8)}
    logs = {f"worker-{n}.log": server.format("03:00:00", n) + log(tonight) for n in range(3)}
    before = {n: f"01:00:0{n}" for n in range(1, 6)}
    left = server.format("01:00:00", old[7]) + log(before)
    shifts = tables_of(logs | {old: left.replace("2026-11-21", "2026-11-18")})["clocks"]["shift"]
    assert {*shifts} <= {0.0, None}
    ahead = {name: text.replace(" 03:", " 04:") if name[7] == old[7] else text for name, text in logs.items()}
    off = clocks(tables_of(ahead | {old: left}))
    assert off[f"worker:{old[7]}", "log"]["shift"] == 3600


def test_what_cannot_be_compared_is_measured_by_its_own_clock(tables_of: TablesOf) -> None:
    """Two steps do not tell an offset; a worker's silence then is that of its own log."""
    steps = {1: "03:00:01", 2: "03:00:02"}
    tables = tables_of(
        {
            "worker-0.log": log(steps, "2026-11-21 03:00:30,250 INFO train: still here\n"),
            "worker-1.log": log({n: at.replace("03:", "09:") for n, at in steps.items()}),
        }
    )
    assert tables["silences"].select("seconds", "compared").rows() == [(28.0, False), (0.0, False)]
    assert not tables["silences"]["first"].any()


MILESTONES = (
    "2026-11-21 {hour}:40:36.{ms}: I tensorflow/core/x/rpc/grpc_channel.cc:272] Initialize GrpcChannelCache for job "
    "worker -> {{0 -> 10.2.7.7:29500, 1 -> 10.2.7.12:29500}}\n"
    "2026-11-21 {hour}:40:36.{ms}: I tensorflow/core/x/rpc/grpc_server_lib.cc:438] Started server with target: "
    "grpc://10.2.7.{host}:29500\n"
)


def start(hour: str, ms: str, host: int, more: str = "") -> str:
    """A log of a start; the steps below have no time."""
    return MILESTONES.format(hour=hour, ms=ms, host=host) + "step 1 loss 0.5\n" + more


def test_a_log_in_another_time_zone_is_told_by_its_start(tables_of: TablesOf) -> None:
    """Where no step is dated: the same milestones, whole hours later."""
    logs = {"worker-0.log": start("01", "445365", 7), "worker-1.log": start("02", "500720", 12)}
    found = clocks(tables_of(logs))
    assert [found[f"worker:{n}", "log"]["basis"] for n in (0, 1)] == ["zone", "zone"]
    assert [found[f"worker:{n}", "log"]["shift"] for n in (0, 1)] == [0.0, 3600.0]


@pytest.mark.parametrize(
    "later",
    [start("02", "500720", 12).replace(":40:", ":47:"), "2026-11-21 02" + start("02", "500720", 12)[13:117]],
    ids=["seven minutes more", "one milestone"],
)
def test_a_later_start_is_no_other_time_zone(later: str, tables_of: TablesOf) -> None:
    """Nor is a single line, which may be anywhere in the start."""
    found = clocks(tables_of({"worker-0.log": start("01", "445365", 7), "worker-1.log": later}))
    assert {each["basis"] for each in found.values()} == {"none"}


def test_logs_that_overlap_are_of_one_time_zone(tables_of: TablesOf) -> None:
    """The second task may have been started an hour later."""
    goes_on = (
        "2026-11-21 03:00:00.5: W tensorflow/core/framework/dataset.cc:768] Input will not be optimized\n"
    )
    logs = {"worker-0.log": start("01", "445365", 7, goes_on), "worker-1.log": start("02", "500720", 12)}
    assert {each["basis"] for each in clocks(tables_of(logs)).values()} == {"none"}
