"""Standard output and standard error are two streams where a tool prints one of them behind the other."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from analyzer.ingest.logs.collectors.streams import detect_style, split_streams
from analyzer.model.run import Tables

TablesOf = Callable[[Mapping[str, str]], Tables]
HOSTS = ("worker-0", "worker-1")
OUTPUT = ["step 1 loss 0.5", "done"]
ERRORS = ["2026-11-21 03:57:01.000001: I tensorflow/core/util/port.cc:113] oneDNN is on.", "ended by a peer"]


def split(lines: list[str]) -> dict[str | None, list[str]]:
    """The lines of each stream."""
    found = split_streams(list(enumerate(lines, 1)), detect_style(lines))
    return {stream.key: [line for _, line in stream.lines] for stream in found}


@pytest.mark.parametrize(
    ("heading", "first", "second", "mark"),
    [
        ("{} | CHANGED | rc=0 >>", OUTPUT, ERRORS, ()),
        ("Container: container_e17_1764_0042_01_000002 on {}_454", ERRORS, OUTPUT, ("LogType:stderr", "LogType:stdout")),
        ("[1] 13:05:20 [SUCCESS] {}", OUTPUT, ["Stderr: " + ERRORS[0], ERRORS[1]], ()),
    ],
    ids=["Ansible", "YARN", "pssh"],
)  # fmt: skip
def test_what_is_printed_behind_it_is_a_stream_of_its_own(
    heading: str, first: list[str], second: list[str], mark: tuple[str, ...]
) -> None:
    """So that the end of the output does not come before the beginning of the errors."""
    blocks = [[heading.format(host), *mark[:1], *first, *mark[1:], *second] for host in HOSTS]
    found = split([line for block in blocks for line in block])
    assert len(found) == 4
    for key, lines in found.items():
        own = [line for line in lines if line in {*OUTPUT, *ERRORS}]
        assert own == (OUTPUT if str(key).endswith("/stdout") else ERRORS)


@pytest.mark.parametrize("printed", [OUTPUT, ERRORS, [*ERRORS, *OUTPUT]])
def test_what_a_command_wrote_to_one_channel_is_one_stream(printed: list[str]) -> None:
    """Where it redirected one into the other, the lines are in order."""
    found = split([line for host in HOSTS for line in (f"{host} | CHANGED | rc=0 >>", *printed)])
    assert [*found] == [*HOSTS]


def test_a_playbook_prints_both_channels_in_one_line(tables_of: TablesOf) -> None:
    """The lines of each are in order, and have numbers of their own."""
    said = [
        f"changed: [worker-{n}] => " + json.dumps({"rc": 0, "stdout": f"step {n} loss 0.5", "stderr": ERRORS[0]})
        for n in range(2)
    ]  # fmt: skip
    tables = tables_of(
        {"play.log": "\n".join(["PLAY [train] ****", "ok: [worker-0]", *said, "PLAY RECAP ****"])}
    )
    assert tables["sources"].filter(worker="worker:1")["source"].sort().to_list() == [
        "play.log#worker-1/stderr",
        "play.log#worker-1/stdout",
    ]
    assert tables["scalars"].filter(tag="step").select("worker", "step").sort("worker").rows() == [
        ("worker:0", 0),
        ("worker:1", 1),
    ]
