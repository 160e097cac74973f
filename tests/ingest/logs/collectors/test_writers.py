"""Fields beside a message name who wrote it."""

from __future__ import annotations

import json

import pytest

from analyzer.ingest.logs.collectors.streams import detect_style, split_streams


def test_events_as_the_aws_command_line_prints_them_name_their_streams() -> None:
    """The time stands behind the message, which may have tabs; `get-log-events` prints no name."""
    lines = [
        f"EVENTS\t3{7:055d}\t1795225238500\ttrain/worker-{n % 2}\tstep\t{n} loss 0.5\t1795225237500"
        for n in range(4)
    ]
    found = split_streams(list(enumerate(lines, 1)), detect_style(lines))
    assert {stream.key: [line for _, line in stream.lines] for stream in found} == {
        f"train/worker-{n}": [f"2026-11-21T01:40:37.500000Z step\t{step} loss 0.5" for step in (n, n + 2)] for n in range(2)
    }  # fmt: skip
    (alone,) = split_streams(
        [(1, "EVENTS\t1795225238500\tstep 1\t1795225237500")] * 2,
        detect_style(["EVENTS\t1795225238500\tstep 1\t1795225237500"] * 2),
    )
    assert [line for _, line in alone.lines] == ["2026-11-21T01:40:37.500000Z step 1"] * 2


@pytest.mark.parametrize("name", ["podName", "pod_name", "container_name"])
def test_the_pod_or_container_of_an_entry_is_its_writer(name: str) -> None:
    """Stern and docker's drivers of logs have it beside the message."""
    lines = [json.dumps({"message": f"step {n}", name: f"worker-{n % 2}"}) for n in range(4)]
    found = split_streams(list(enumerate(lines)), detect_style(lines))
    assert {stream.key for stream in found} == {"worker-0", "worker-1"}


_STEP = "2026-11-27 00:39:0{0},060 worker-{1}  INFO    train:43 step 0{0}0/100 loss=0.6"


def _streams(lines: list[str]) -> dict[str | None, list[str]]:
    found = split_streams(list(enumerate(lines, 1)), detect_style(lines))
    return {stream.key: [line for _, line in stream.lines] for stream in found}


def test_the_names_of_processes_behind_the_time_tell_workers_apart() -> None:
    """`processName` of Python's logging; TensorFlow's own lines have none, and a traceback has it above."""
    tensorflow = (
        "2026-11-27 00:39:05.666102: E tensorflow/core/common_runtime/ring_alg.cc:291] Aborting RingReduce"
    )
    glog = "W0000 00:00:1795739964.515085     388 preemption_notifier.cc:90] SIGTERM caught"
    parent = "2026-11-27 00:39:06,362 MainProcess ERROR train:58 worker-1 (pid 32367) ended with exit code 1"
    lines = [
        *(_STEP.format(n, worker) for n in (1, 2) for worker in (0, 1)),
        glog,
        "Process worker-1:",
        "Traceback (most recent call last):",
        "KeyError: 'x'",
        tensorflow,
        parent,
    ]
    found = _streams(lines)
    assert found[None] == [glog, tensorflow, parent]
    assert found["worker-1"][-3:] == [
        "Process worker-1:",
        "Traceback (most recent call last):",
        "KeyError: 'x'",
    ]
    assert found["worker-0"] == [
        f"2026-11-27 00:39:0{n},060 INFO    train:43 step 0{n}0/100 loss=0.6" for n in (1, 2)
    ]


@pytest.mark.parametrize(
    "lines",
    [
        [_STEP.format(n, 1) for n in range(9)],
        [f"2026-11-27 00:39:0{n},060 INFO train:43 worker-{n % 2} joined" for n in range(9)],
        [f"2026-11-27 00:39:0{n},060 worker-{n % 2} joined" for n in range(2)] + ["plain text"] * 9,
    ],
    ids=["a single process", "behind the level", "without a level"],
)
def test_a_worker_named_in_a_line_did_not_always_write_it(lines: list[str]) -> None:
    """The log of one process, and lines that tell of others, stay whole."""
    assert set(_streams(lines)) in ({None}, {"worker-1"})
