"""Writers in the prefixes of SkyPilot, grep and Circus, and in exports that are like docker's."""

from __future__ import annotations

import json

import pytest

from analyzer.ingest.logs.collectors.streams import detect_style, split_streams

LINE = "2026-11-21 00:05:01.083826: I tensorflow/core/util/port.cc:113] oneDNN custom operations are on."


def split(lines: list[str]) -> dict[str | None, list[str]]:
    """The lines of each stream."""
    streams = split_streams(list(enumerate(lines, 1)), detect_style(lines))
    return {stream.key: [line for _, line in stream.lines] for stream in streams}


@pytest.mark.parametrize(
    ("marks", "keys"),
    [
        (["(head, rank=0, pid=14394) ", "(worker1, rank=1, pid=13566, ip=10.0.0.2) "], {"0", "1"}),
        (["(head, rank=0, pid=14394) ", "(worker1, rank=1, ip=10.0.0.2, pid=13566) "], {"0", "1"}),
        (["(train, pid=14394) ", "(train, pid=14395) "], {"pid=14394", "pid=14395"}),
        (["logs/worker-0.log:7:", "logs/worker-1.log-8-"], {"logs/worker-0.log", "logs/worker-1.log"}),
        (["2026-11-21 00:05:01 [5120] | ", "2026-11-21 00:05:01 [5121] | "], {"pid=5120", "pid=5121"}),
    ],
    ids=["SkyPilot", "SkyPilot's agent", "a task of one node", "grep with lines around", "Circus"],
)
def test_the_prefix_tells_the_writer(marks: list[str], keys: set[str]) -> None:
    """A number of a process is no rank."""
    found = split([mark + line for line in [LINE, "step 5 loss 0.4"] * 4 for mark in marks])
    assert {*found} == keys
    assert all([line for line in lines if line.endswith("on.")] == [LINE] * 4 for lines in found.values())


def test_low_numbers_in_brackets_are_ranks() -> None:
    """As MPICH prints them."""
    assert {*split([f"[{rank}] {LINE}" for _ in range(6) for rank in (0, 1)])} == {"0", "1"}


def test_the_word_log_is_no_field_of_docker() -> None:
    """ClearML's events are of the type `log`; each has whole lines."""
    events = [{"type": "log", "worker": f"gpu2{at % 2}:gpu0", "msg": f"{LINE}\nstep {at}"} for at in range(8)]
    found = split([json.dumps(event) for event in events])
    assert found["gpu21:gpu0"] == [text for at in (1, 3, 5, 7) for text in (LINE, f"step {at}")]


def test_a_bar_behind_brackets_is_of_podman_compose() -> None:
    """A program prints bars as well."""
    lines = ["[worker-0]    | step 1 loss 0.5", "[web]         | step 1 loss 0.5", "[worker-0]    | a | b"]
    found = split_streams([*enumerate(lines)], detect_style(lines))
    assert {stream.key: [text for _, text in stream.lines] for stream in found} == {
        "worker-0": ["step 1 loss 0.5", "a | b"], "web": ["step 1 loss 0.5"],
    }  # fmt: skip
    lines = ["[worker-0] step 1", "[worker-1] step 1", "[worker-0] | a | b |", "[worker-1] step 2"]
    found = split_streams([*enumerate(lines)], detect_style(lines))
    assert ["step 1", "| a | b |"] in [[text for _, text in stream.lines] for stream in found]
