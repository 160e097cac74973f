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
