"""Which prefixes name a writer: those of lines that several wrote in turn."""

from __future__ import annotations

import pytest

from analyzer.ingest.logs.collectors.streams import detect_style, split_streams


def streams(file: str) -> dict[str | None, list[str]]:
    """Label → lines of a file of several tasks."""
    lines = file.splitlines()
    found = split_streams(list(enumerate(lines, 1)), detect_style(lines))
    return {stream.key: [line for _, line in stream.lines] for stream in found}


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("[{}] loading shard", ["0", "1"]),
        ("2026-11-21T01:40:37Z trainer-{} loading shard", ["trainer-0", "trainer-1"]),
        (
            "2026-11-21T01:40:37.25+00:00 job/algo-{}/7f2c loading shard",
            ["job/algo-0/7f2c", "job/algo-1/7f2c"],
        ),
        ("ads-{}: loading shard", ["ads-0", "ads-1"]),
        ("gpu{}.lab: loading shard", ["gpu0.lab", "gpu1.lab"]),
        ("[gpu{}] loading shard", ["gpu0", "gpu1"]),
        ('{{"_HOSTNAME": "gpu{}", "MESSAGE": "loading shard"}}', ["gpu0", "gpu1"]),
        ('{{"host": {{"name": "gpu{}"}}, "message": "loading shard"}}', ["gpu0", "gpu1"]),
        ("[gpu{}/trainer]: loading shard", ["gpu0", "gpu1"]),
        ("train (gpu{})\tRun\t2026-11-21T01:40:37.1234567Z loading shard", ["train (gpu0)", "train (gpu1)"]),
        ("Nov 21 01:40:37 gpu{} python[47]: loading shard", ["gpu0", "gpu1"]),
        ("2026-11-21 01:40:37 CET [rank {}] loading shard", ["rank 0", "rank 1"]),
        ("Nov 21 01:40:37 [gpu{}] 2026-11-21 01:40:37.1: I tensorflow/a.cc:1] up", ["gpu0", "gpu1"]),
        ("2026-11-21T01:40:37.123456789Z [1,{}]<stdout>:loading shard", ["0", "1"]),
        ("12:04:11 worker.{}   | loading shard", ["worker.0", "worker.1"]),
        ("train-a{} \u203a main loading shard", ["train-a0", "train-a1"]),
        ("2026-11-21T01:40:37.25+00:00 app[worker.{}]: loading shard", ["worker.0", "worker.1"]),
        ("(gpu{}) loading shard", ["gpu0", "gpu1"]),
        ("[train-worker-{} main] loading shard", ["train-worker-0", "train-worker-1"]),
        ("<14>1 2026-11-21T01:40:37.250Z gpu{} train 47 - - loading shard", ["gpu0", "gpu1"]),
        ('<14>1 2026-11-21T01:40:37Z gpu{} train 47 ID7 [a b="c"] loading shard', ["gpu0", "gpu1"]),
        ("<14>Nov 21 01:40:37 gpu{} train[47]: loading shard", ["gpu0", "gpu1"]),
    ],
    ids=[
        "MPICH",
        "syslog server",
        "aws logs tail",
        "pdsh",
        "pdsh with domains",
        "brackets",
        "journald",
        "Filebeat",
        "container",
        "gh",
        "journals",
        "zone",
        "stamped brackets",
        "docker logs of mpirun",
        "foreman",
        "stern",
        "Heroku",
        "parentheses",
        "kubetail",
        "RFC 5424",
        "RFC 5424 with data",
        "RFC 3164",
    ],
)
def test_lines_that_several_workers_wrote_in_turn_are_parted(line: str, names: list[str]) -> None:
    """By the name or the rank in front of each."""
    assert list(streams("\n".join(line.format(n % 2) for n in range(4)))) == names


@pytest.mark.parametrize(
    "line",
    [
        "[{}] loss 0.5",
        "step{}: loss 0.5",
        "[step{}] loss 0.5",
        "2026-11-21T01:40:37+0000 gpu-{} python[47]: loss 0.5",
    ],
)
def test_numbers_of_steps_and_lines_of_a_journal_name_no_writer(line: str) -> None:
    """A number that only grows is a step; a journal's lines hold a process behind the host."""
    assert list(streams("\n".join(line.format(n // 2) for n in range(6)))) == [None]


@pytest.mark.parametrize(
    "line", ["[Thread-{}] loss 0.5", "(MainThread-{}) loss 0.5", "2026-11-21 01:40:37 [Thread-{}] loss 0.5"]
)
def test_threads_that_print_in_turn_are_of_one_writer(line: str) -> None:
    """Loggers put their names in brackets."""
    assert list(streams("\n".join(line.format(n % 2) for n in range(6)))) == [None]


def test_a_number_of_each_line_names_no_writer() -> None:
    """As of the entries of an archive, whose columns are separated by tabs; the host is one of them."""
    begun = "2026-11-21 01:40:37.083826: I tensorflow/core/util/port.cc:113] oneDNN is on."
    rows = [
        f"{811_000 + at}\tUser\t2026-11-21T01:40:37Z\tgpu-{'ab'[at % 2]}\ttrain\t{line}"
        for at, line in enumerate([begun, begun, "step 1", "step 1"] * 4)
    ]
    assert sorted(filter(None, streams("\n".join(rows)))) == ["gpu-a", "gpu-b"]


@pytest.mark.parametrize(
    ("folder", "mark"),
    [("logs/", ""), ("logs\\", ""), ("C:\\logs\\", "> ")],
    ids=["grep", "PowerShell", "with a mark"],
)
def test_a_file_that_a_search_names_is_a_writer(folder: str, mark: str) -> None:
    """With the number of the line."""
    lines = [f"{mark}{folder}gpu-{name}.log:{at}:step {at}" for name in "ab" for at in range(9)]
    assert streams("\n".join(lines)) == {
        f"{folder}gpu-{name}.log": [f"step {at}" for at in range(9)] for name in "ab"
    }


LOGGED = "2026-11-21 01:40:37.1: W tensorflow/a.cc:1] Aborting"


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        ([f"n07: {LOGGED}", "n07: it ended", "n08: it ended"], {"n07", "n08"}),
        (["n07: loading", "n07: it ended", "n08: it ended"], {None}),
        ([f"n07: {LOGGED}", "n08: it ended"], {None}),
        ([f"step1: {LOGGED}", "step1: it ended", "shard2: it ended"], {None}),
    ],
    ids=["nodes", "without a logger's line", "no node recurs", "names that differ in more"],
)
def test_nodes_one_after_another_are_told_by_their_numbers(lines: list[str], names: set[str | None]) -> None:
    """People sort what nodes printed, and leave most of it out."""
    assert {*streams(chr(10).join(lines))} == names
