"""Several prefixes before a line, a time or a supervisor's bar among them, are all taken off."""

from __future__ import annotations

import pytest

from analyzer.ingest.logs.collectors.streams import detect_style, split_streams


def test_an_indented_line_below_a_prefix_is_no_record_of_its_own() -> None:
    """Though the line above it tells a step, below which other lines get their time back."""
    head = "I1121 01:35:58.100000 7 t.py:62] train | step: 40 | output:"
    lines = [head, "    {'training_loss': nan}", "step 2 loss 0.4"]
    marked = [f"2026-11-21T01:35:58.252546967Z stderr F {line}" for line in lines]
    (stream,) = split_streams(list(enumerate(marked)), detect_style(marked))
    assert [line for _, line in stream.lines[:2]] == lines[:2]
    assert stream.lines[2][1].endswith(f"Z {lines[2]}")


@pytest.mark.parametrize(
    "time", ["Nov 21 00:05:01", "2026-11-21T00:05:01", "[2026-11-21 00:05:01.250]", "00:05:01.250"]
)
def test_a_time_before_every_line_is_no_part_of_it(time: str) -> None:
    """As `ts` prints it: the lines below a record are its own again."""
    lines = [
        "I1121 00:05:01.083826 1405 t.py:62] settings:",
        "    {'rate': 0.5}",
        "Traceback (most recent call last):",
        '  File "/app/t.py", line 3, in <module>',
        "X: no",
    ]
    marked = [f"{time} {line}" for line in lines]
    (stream,) = split_streams(list(enumerate(marked)), detect_style(marked))
    assert [line for _, line in stream.lines] == lines


def test_the_time_that_a_program_prints_itself_stays() -> None:
    """Nothing stands behind it that only another could have stamped."""
    assert detect_style(["Nov 21 00:05:01 step 1 loss 0.5", "Nov 21 00:05:02 step 2 loss 0.4"]) is None
    assert detect_style(["00:05:01.250 step 1 loss 0.5", "00:05:02.250 step 2 loss 0.4"]) is None


def test_what_a_supervisor_prints_of_its_child_loses_its_bar() -> None:
    """The end of a traceback is not looked for among the supervisor's own lines below it."""
    child = [
        "Traceback (most recent call last):",
        '  File "/app/t.py", line 3, in <module>',
        "    raise X",
        "X: no",
    ]
    lines = [*(f"   | {line}" for line in child), "again: try 1 failed"] * 20
    marked = ["   | step 1"] * 400 + lines
    (stream,) = split_streams(list(enumerate(marked, 1)), detect_style(marked))
    assert [line for _, line in stream.lines[400:405]] == [*child, "again: try 1 failed"]


def test_the_bar_of_a_supervisor_is_removed_behind_the_label_of_a_launcher() -> None:
    """Each rank has a supervisor of its own."""
    lines = ["again: try 1", *["   | step 1", "   |"] * 10]
    marked = [f"{rank}: {line}" for line in lines for rank in (0, 1)]
    found = split_streams(list(enumerate(marked)), detect_style(marked))
    assert {stream.key: [line for _, line in stream.lines][:3] for stream in found} == {
        "0": ["again: try 1", "step 1", ""], "1": ["again: try 1", "step 1", ""],
    }  # fmt: skip


def test_entries_behind_a_time_are_read() -> None:
    """A collector stamped what the program logs as JSON."""
    line = '21.11.2026 01:35:58 | {"msg": "step 1", "loss": 0.5}'
    (stream,) = split_streams([(1, line), (2, line)], detect_style([line, line]))
    assert stream.lines[0][1].endswith("step 1 loss=0.5")


def test_the_rows_of_a_table_are_not_lines_behind_a_bar() -> None:
    """They end with a bar, too."""
    assert detect_style(["| host | steps |", "|------|-------|", "| gpu1 | 40 |"]) is None


def _streams(marked: list[str]) -> dict[str | None, list[str]]:
    found = split_streams(list(enumerate(marked)), detect_style(marked))
    return {stream.key: [line for _, line in stream.lines] for stream in found}


def test_the_ranks_in_the_pod_of_mpirun_are_the_writers() -> None:
    """Not the pod that printed all of their lines; the pods of the workers have logs of their own."""
    printed = [f"[pod/bert-launcher-x7k2p/mpi] [1,{n % 2}]<stderr>:step {n} loss 0.5" for n in range(8)]
    found = _streams([*printed, "[pod/bert-worker-0/sshd] Server listening on 0.0.0.0 port 22."])
    assert found["0"] == [f"step {n} loss 0.5" for n in (0, 2, 4, 6)]
    assert {*found} == {"0", "1", "bert-worker-0"}


def test_the_ranks_of_several_pods_are_none_of_the_job() -> None:
    """Each pod counts its own from 0."""
    found = _streams([f"[pod/bert-worker-{n % 2}/tf] [1,{n % 4 // 2}]<stderr>:step {n}" for n in range(8)])
    assert {*found} == {"bert-worker-0", "bert-worker-1"}


def test_a_label_may_stand_behind_each_line() -> None:
    """Of all lines, not only of some that a program prints so."""
    marked = [f"step {n} loss 0.5  [worker-{n % 2}]" for n in range(6)]
    assert _streams(marked)["worker-1"] == [f"step {n} loss 0.5" for n in (1, 3, 5)]
    assert detect_style([*marked, *["connected", "ready", "step 7 loss 0.5"]]) is None
