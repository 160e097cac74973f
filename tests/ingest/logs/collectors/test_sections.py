"""Logs below headings are told apart, also where each line has a prefix that names no writer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from analyzer.ingest.logs.collectors.streams import detect_style, split_streams
from analyzer.model.run import Tables

TablesOf = Callable[[Mapping[str, str]], Tables]
RULE = "-" * 16


def split(lines: list[str]) -> dict[str | None, list[str]]:
    """Stream → its lines, of a file with these lines."""
    found = split_streams(list(enumerate(lines, 1)), detect_style(lines))
    return {stream.key: [line for _, line in stream.lines] for stream in found}


def test_names_between_rules_are_headings() -> None:
    """As `dshbak -c` and `clush -b` print them; other rules are lines of the log."""
    lines = [
        each
        for name in ("cn07", "cn[08-09]")
        for each in (RULE, name, RULE, "step 1", RULE, "a table", "step 2")
    ]
    found = split(lines)
    assert found["cn07"][1:5] == [RULE, "step 1", RULE, "a table"]
    assert "step 2" in found["cn[08-09]"]
    assert split([RULE, "summary", RULE, "step 1"]).keys() == {None}


def test_a_bar_below_headings_is_taken_off() -> None:
    """Each node has a supervisor that sets one before the lines of its child."""
    lines = [each for name in ("cn07", "cn08") for each in (RULE, name, RULE, *["   | step 1"] * 40)]
    assert {key: lines.count("step 1") for key, lines in split(lines).items() if key} == {
        "cn07": 40,
        "cn08": 40,
    }


def test_times_below_the_commands_that_asked_for_them_name_nobody() -> None:
    """The command says whose lines they are."""
    stamped = [f"2026-11-21T01:40:3{n}.123456789Z step {n} loss 0.5" for n in range(9)]
    found = split(
        [each for n in (0, 1) for each in (f"$ kubectl logs --timestamps fit-worker-{n}", *stamped)]
    )
    assert {key: len(lines) for key, lines in found.items()} == {"worker-0": 10, "worker-1": 10}


def test_containers_of_yarn_are_named_by_host_and_number() -> None:
    """The number of the application in the name of the file is no index of a worker."""
    lines = [
        each
        for n in (2, 3)
        for each in (
            f"Container: container_e17_1764_0042_01_00000{n} on h{n}_454",
            "LogType:stderr",
            "step 1 loss 0.5",
        )
    ]
    assert [*split(lines)] == ["h2/container_000002", "h3/container_000003"]


def test_the_number_of_a_file_is_no_index_of_the_streams_in_it(tables_of: TablesOf) -> None:
    """Several workers wrote to it."""
    lines = "".join(f"{host}: step {n} loss 0.5\n" for n in range(9) for host in ("ash01", "elm01"))
    workers = tables_of({"out_12.log": lines})["workers"]["worker"].to_list()
    assert workers == ["worker:0", "worker:1"]


def test_results_of_ansible_are_the_output_of_hosts() -> None:
    """All of it is in one line; a result without output is none."""
    said = [
        f"fatal: [{host}]: FAILED! => "
        + json.dumps({"rc": 1, "stdout": "step 1", "stderr": "Traceback:\nX: no"})
        for host in ("ash", "elm")
    ]
    found = split(["PLAY [train] ****", 'ok: [ash] => {"changed": false}', *said, "PLAY RECAP ****"])
    assert {key: lines for key, lines in found.items() if key} == {
        "ash": ["step 1", "Traceback:", "X: no"], "elm": ["step 1", "Traceback:", "X: no"],
    }  # fmt: skip


INDENTED = [
    "2026-11-21 00:05:01.083826: I tensorflow/core/util/port.cc:113] oneDNN is on.",
    *[f"step {n} loss 0.5" for n in range(40)],
    "",
    "X: no",
]


def below(heading: str, depth: int, *titles: str) -> list[str]:
    """What a tool prints for a host: its name and titles, and its output, indented."""
    return [heading, *titles, *(f"{' ' * depth}{line}" if line else "" for line in INDENTED)]


def test_output_that_is_indented_below_hosts_is_theirs() -> None:
    """As Salt prints it; what it says itself is nobody's."""
    found = split([*below("ash:", 4), *below("elm:", 4), "ERROR: Minions returned with non-zero exit code"])
    assert found["ash"] == ["ash:", *INDENTED]
    assert found["elm"] == ["elm:", *INDENTED]
    assert found[None][-1].startswith("ERROR: ")


def test_channels_below_hosts_are_told_apart() -> None:
    """Puppet Bolt puts a title above each."""
    hosts = [f"Finished on {host}:" for host in ("ash", "elm")]
    lines = [line for host in hosts for line in [*below(host, 4, "  STDOUT:"), "  STDERR:", "    late"]]
    assert {*split(["Started on ash...", *lines])} == {
        None,
        "ash/stdout",
        "ash/stderr",
        "elm/stdout",
        "elm/stderr",
    }


def test_results_of_ansible_may_be_yaml() -> None:
    """Its callback `yaml` prints the two channels as blocks."""
    hosts = [f"fatal: [{host}]: FAILED! => changed=true" for host in ("ash", "elm")]
    lines = [line for host in hosts for line in [*below(host, 4, "  stderr: |-"), "  stdout: |-", "    done"]]
    assert {*split(lines)} == {"ash/stdout", "ash/stderr", "elm/stdout", "elm/stderr"}


def test_a_log_that_is_indented_is_read_without_the_blanks() -> None:
    """As of a quotation; what is indented deeper stays so, and what stands at the margin is left alone."""
    found = split(["It said:", *(f"    {line}" for line in [*INDENTED, '  File "t.py", line 3'])])
    assert found[None] == ["It said:", *(line or "" for line in INDENTED), '  File "t.py", line 3']


def test_names_above_indented_lines_need_no_colon() -> None:
    """Nor need they stand alone."""
    lines = [line for name in ("host ash", "host elm") for line in [name, *below("", 6)[1:]]]
    assert {*split(lines)} == {"ash", "elm"}


def test_lines_of_a_program_that_are_indented_are_below_no_host() -> None:
    """TensorFlow's lines show that nobody indented the output."""
    settings = ["model:", *["    layers: 3"] * 30, "data:", *["    files: 3"] * 30]
    assert {*split([*settings, INDENTED[0]])} == {None}
