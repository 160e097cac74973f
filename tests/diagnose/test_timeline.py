"""The order of events, and which of them are kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analyzer.diagnose.timeline import MAX_EVENTS, timeline
from analyzer.model.run import Tables
from analyzer.pipeline import analyze

MakeRun = Callable[[Mapping[str, str]], Path]

TablesOf = Callable[[Mapping[str, str]], Tables]
UP = "2026-11-21 01:00:{:02d}.5: I tensorflow/x/rpc/grpc_server_lib.cc:1] Started server with target: grpc://10.0.0.{}:2222\n"
TRACEBACK = "Traceback (most recent call last):\n  File 'x'\nKeyError: 'label'\n"


def many(count: int) -> dict[str, str]:
    """Logs of so many workers, the last of which raises, and the exit code of each."""
    logs = {
        f"worker-{i}.log": UP.format(i % 60, i) + "step 1 loss 0.5\nstep 2 loss 0.4\n" for i in range(count)
    }
    logs[f"worker-{count - 1}.log"] += TRACEBACK
    return logs | {"exit_codes.txt": "".join(f"worker-{i} 1\n" for i in range(count))}


def test_what_matters_is_kept_of_a_large_job(tables_of: TablesOf) -> None:
    """All ends, and everything of the culprit; the rest is counted."""
    tables = tables_of(many(110))
    parts = dict.fromkeys(tables["lifetimes"]["worker"].to_list(), "witness") | {"worker:109": "culprit"}
    events, left_out = timeline(tables, parts)
    assert len(events) == MAX_EVENTS
    assert left_out == 110 * 5 + 1 - MAX_EVENTS
    assert [event["n"] for event in events] == list(range(1, MAX_EVENTS + 1))
    assert sum(event["kind"] == "end" for event in events) == 110
    own = [event["kind"] for event in events if event["worker"] == "worker:109"]
    assert own == ["start", "server_up", "first_step", "last_step", "error", "end"]


def test_a_worker_starts_first_and_ends_last(tables_of: TablesOf) -> None:
    """Its steps have no time of their own; its end has the time of its last line."""
    tables = tables_of(many(3) | {"worker-2.log": "step 1 loss 0.5\nstep 2 loss 0.4\n" + TRACEBACK})
    events, left_out = timeline(tables, dict.fromkeys(tables["lifetimes"]["worker"].to_list(), "witness"))
    assert left_out == 0
    for worker in ("worker:0", "worker:1", "worker:2"):
        kinds = [event["kind"] for event in events if event["worker"] == worker]
        order = ["start", "server_up", "first_step", "last_step", "error", "end"]
        assert kinds == [kind for kind in order if kind in kinds]
        assert {"first_step", "end"} <= set(kinds)


def test_each_further_attempt_has_a_start(tables_of: TablesOf) -> None:
    """With its number and its first dated line."""
    line = "2026-11-21 01:{}:00.0: I tensorflow/core/platform/cpu_feature_guard.cc:210] This binary\n"
    logs = {f"attempt-{n}/worker-0.log": line.format(f"0{n}") for n in (1, 2)}
    events, _ = timeline(tables_of(logs), {"worker:0": "culprit"})
    starts = [(event["text"], event["source"]) for event in events if event["kind"] == "start"]
    assert starts == [
        ("first line", "attempt-1/worker-0.log"),
        ("attempt 2: first line", "attempt-2/worker-0.log"),
    ]


def test_the_first_bad_loss_is_an_event_with_its_line(tables_of: TablesOf) -> None:
    """And only that of a loss: a metric may be undefined for a while."""
    log = "step 1 loss 0.5 auc nan\nstep 2 loss nan auc 0.5\nstep 3 loss nan auc 0.5\n"
    events, _ = timeline(tables_of({"worker-0.log": log}), {"worker:0": "culprit"})
    told = [
        (event["text"], event["line"], event["excerpt"]) for event in events if event["kind"] == "nonfinite"
    ]
    assert told == [("loss not finite from step 2 on", 2, "step 2 loss nan auc 0.5")]


def test_a_last_dated_line_bounds_what_follows(tables_of: TablesOf) -> None:
    """A traceback has no time; the dated report of a peer that lost the worker comes after it."""
    lost = (
        "2026-11-21 01:00:30.5: E tensorflow/core/common_runtime/ring_alg.cc:291] Aborting RingReduce with "
        "UNAVAILABLE: Connection reset by peer\nAdditional GRPC error information from remote target "
        "/job:worker/replica:0/task:1 while calling /tensorflow.WorkerService/RecvBuf:\n"
        ':{"created":"@1795222830.5","description":"Error received from peer","grpc_status":14}\n'
    )
    logs = many(2)
    tables = tables_of(logs | {"worker-0.log": logs["worker-0.log"] + lost})
    events, _ = timeline(tables, {"worker:0": "witness", "worker:1": "culprit"})
    own = {event["kind"]: event for event in events if event["worker"] == "worker:1"}
    assert own["error"]["after"] == own["server_up"]["time"]
    assert own["error"]["before"] == own["error"]["after"] + 29
    assert own["last_step"]["after"] == own["server_up"]["time"]
    assert "after" not in own["server_up"]


@pytest.mark.runs
@pytest.mark.parametrize(
    ("went_on", "expected"), [("", [1763776800.0]), ("01:59:59", [1763776800.0]), ("02:00:01", [])]
)
def test_the_scheduler_dates_the_end_of_the_job(
    make_run: MakeRun, went_on: str, expected: list[float]
) -> None:
    """It stands in its own line; a job that logs lines of a later time went on, as after a requeue."""
    started = "2025-11-21 22:00:00.000000: I tensorflow/core/distributed_runtime/rpc/grpc_server_lib.cc:457] Started server with target: grpc://n1:2222\n"
    said = "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2025-11-22T02:00:00 DUE TO PREEMPTION ***\n"
    later = started.replace("2025-11-21 22:00:00", f"2025-11-22 {went_on}") if went_on else ""
    run = make_run({"slurm-7.out": f"{started}step 1 loss 0.5\n{said}{later}"})
    events = analyze([run]).document["timeline"]
    assert [each["time"] for each in events if each["text"] == "the scheduler ended the job"] == expected


@pytest.mark.runs
def test_a_pod_states_when_its_container_ended(make_run: MakeRun) -> None:
    """To the second; that of the container's earlier life does not count."""
    ended = {"exitCode": 137, "finishedAt": "2025-11-21T22:16:40Z", "reason": "Error"}
    before = {"exitCode": 1, "finishedAt": "2025-11-21T20:00:00Z"}
    states = {"lastState": {"terminated": before}, "state": {"terminated": ended}}
    pod = {"kind": "Pod", "metadata": {"name": "bert-worker-0"}, "status": {"containerStatuses": [states]}}
    run = make_run({"bert-worker-0.log": "step 1 loss 0.5\n", "pods.json": json.dumps(pod, indent=1)})
    (end,) = (each for each in analyze([run]).document["timeline"] if each["kind"] == "end")
    assert (end["time"], "after" in end) == (1763763400.0, False)


RECORDED = {
    "worker-0/stdout.log": UP.format(5, 0) + "step 1 loss 0.5\nstep 2 loss 0.4\n",
    "worker-0/recording.jsonl": '{"event": "recording", "time": 1795222800.0, "monotonic": 1.0, "host": "vm", "command": ["python"]}\n',
}
KILLED_AT = 1795222900.25
END = '{"event": "end", "time": 1795222900.25, "monotonic": 101.25, "exit_code": null, "signal": {"number": 9, "name": "SIGKILL"}, "asked": false}\n'


def test_a_recording_states_when_its_process_ended(tables_of: TablesOf) -> None:
    """Its last printed lines have no times, and the last dated one is that of its start."""
    recording = {"worker-0/recording.jsonl": RECORDED["worker-0/recording.jsonl"] + END}
    events, _ = timeline(tables_of(RECORDED | recording), {"worker:0": "culprit"})
    [end] = [event for event in events if event["kind"] == "end"]
    assert (end["time"], end["source"]) == (KILLED_AT, "worker-0/recording.jsonl")
    assert "after" not in end


def test_an_error_is_not_later_than_the_recorded_end(tables_of: TablesOf) -> None:
    """The lines of the traceback have no times."""
    files = {
        "worker-0/stdout.log": RECORDED["worker-0/stdout.log"] + TRACEBACK,
        "worker-0/recording.jsonl": RECORDED["worker-0/recording.jsonl"] + END,
    }
    events, _ = timeline(tables_of(files), {"worker:0": "culprit"})
    [error] = [event for event in events if event["kind"] == "error"]
    assert error["before"] == KILLED_AT


def test_the_recorded_end_of_an_earlier_attempt_dates_no_later_one(tables_of: TablesOf) -> None:
    """The second attempt went on after it."""
    second = {"worker-0.2/stdout.log": UP.format(59, 0) + "step 1 loss 0.5\n"}
    first = {"worker-0/recording.jsonl": RECORDED["worker-0/recording.jsonl"] + END}
    events, _ = timeline(tables_of(RECORDED | first | second), {"worker:0": "culprit"})
    assert KILLED_AT not in [event["time"] for event in events if event["kind"] in {"end", "silence"}]


def test_the_next_dated_line_bounds_what_is_above_it(tables_of: TablesOf) -> None:
    """A loss whose line has no time stands between two that have one."""
    warned = (
        "2026-11-21 01:00:30.5: W tensorflow/core/framework/dataset.cc:768] Input will not be optimized\n"
    )
    tables = tables_of({"worker-0.log": UP.format(0, 1) + "step 1 loss 0.5\nstep 2 loss nan\n" + warned})
    events, _ = timeline(tables, {"worker:0": "culprit"})
    (bad,) = [event for event in events if event["kind"] == "nonfinite"]
    assert bad["time"] is None
    assert bad["before"] - bad["after"] == 30
