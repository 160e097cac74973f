"""Rows below a heading are values of its columns; what only looks like a table is none."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import pytest

from analyzer.ingest.logs.progress.printed_tables import TableReader
from analyzer.model.run import Tables


def values(*lines: str) -> list[tuple[int | None, int | None, str, float]]:
    """Return epoch, step, tag and value of all metrics that a log with these lines prints."""
    reader = TableReader()
    points = [point for line in lines for point in reader.points(line)]
    return [(at.epoch, at.step, at.tag, at.value) for at in points if at.tag != "step"]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            ["row,rank,step,local_loss,fetch_ms", "row,1,40,0.5,12.5"],
            [(None, 40, "local_loss", 0.5), (None, 40, "fetch_seconds", 0.0125)],
        ),
        (
            ["| epoch | train rmse | lr |", "|-------|------------|----|", "| 2/9 | 0.25 | 1e-3 |"],
            [(2, None, "train_rmse", 0.25), (2, None, "lr", 0.001)],
        ),
        (
            ["  epoch    train_loss    valid_loss     dur", "      3        0.2500        0.3125  0.4101"],
            [(3, None, "train_loss", 0.25), (3, None, "valid_loss", 0.3125)],
        ),
        (
            ["┏━━━━━━━┳━━━━━━┓", "┃ Round ┃ RMSE ┃ Hits ┃", "┡━━━━━━━╇━━━━━━┩", "│ 4     │ 0.25 │ 0.75 │"],
            [(None, 4, "RMSE", 0.25), (None, 4, "Hits", 0.75)],
        ),
        (["step;loss;note", "7;0.5;warm"], [(None, 7, "loss", 0.5)]),
        (
            ["who\tupd\tnll\ttok/s", "r0\t40\t1.25\t1300"],
            [(None, 40, "nll", 1.25), (None, 40, "tok/s", 1300.0)],
        ),
    ],
    ids=["commas", "bars", "spaces", "a box", "a cell of words", "tabs"],
)
def test_a_row_takes_its_names_from_the_heading(
    lines: list[str], expected: list[tuple[int | None, int | None, str, float]]
) -> None:
    """The separator is that of the heading; columns of ranks and durations are no metrics of the model."""
    assert values(*lines) == expected


def test_nan_in_a_cell_is_a_value() -> None:
    """A table is where many programs show first that their loss is lost."""
    ((_, _, tag, value),) = values("| ep | train mse | sec |", "| 1 | nan | 2.5 |")
    assert tag == "train_mse"
    assert math.isnan(value)


@pytest.mark.parametrize(
    "lines",
    [
        ["name,kind,size", "conv,loss,12"],
        ["step 1, loss 0.5, lr 0.1", "step 2, loss 0.4, lr 0.1"],
        ["the step, its loss, and what follows", "all of that, and more, is text"],
        ["Layer (type) | Output Shape | Param #", "dense | (None, 4) | 20"],
        ["step,loss,lr", "5,0.5"],
        ["step,loss,lr", "five,0.5,0.1"],
        ["epoch,loss", "1,0.5"],
    ],
)
def test_other_lines_are_no_table(lines: list[str]) -> None:
    """Without a step or an epoch, a loss, and as many cells as names, nothing is read."""
    assert values(*lines) == []


def box(**pairs: str) -> list[str]:
    """Return the lines of a box as Stable Baselines prints it; `/` ends the names of sections."""
    rows = [f"| {name:<20} | {value:<9} |" for name, value in pairs.items()]
    return ["-" * 36, "| time/                |           |", *rows, "-" * 36]


def test_a_box_of_names_and_values_is_one_step() -> None:
    """Whatever else it counts, its step is the number of steps in the environment."""
    lines = box(fps="41", iterations="2", total_timesteps="2048", approx_kl="0.0125", loss="0.25")
    assert values(*lines, *box(fps="41", total_timesteps="4096", loss="0.2")) == [
        (None, 2048, "fps", 41.0),
        (None, 2048, "approx_kl", 0.0125),
        (None, 2048, "loss", 0.25),
        (None, 4096, "fps", 41.0),
        (None, 4096, "loss", 0.2),
    ]


@pytest.mark.parametrize(
    "lines",
    [
        box(gpus="2", memory="81.0", power="300"),
        box(total_timesteps="2048", loss="0.25"),
        box(total_timesteps="2048", fps="41", loss="0.25")[:-1],
        box(total_timesteps="2e99", fps="41", loss="0.25"),
    ],
    ids=["nothing counts", "two pairs", "cut off", "too large a count"],
)
def test_another_box_is_no_step(lines: list[str]) -> None:
    """A box is read once it is closed, and only if it counts steps."""
    assert values(*lines) == []


def test_rows_of_another_rank_are_left_out() -> None:
    """The log is one worker's; a table of all ranks would mix their curves."""
    lines = ["step,rank,loss", "1,0,0.5", "1,1,0.7", "2,0,0.4"]
    assert [value for *_, value in values(*lines)] == [0.5, 0.4]


def test_a_row_behind_a_line_of_tensorflow_has_its_collectors_time(
    tables_of: Callable[[Mapping[str, str]], Tables],
) -> None:
    """Rows are no continuation of the record above them, though they have no prefix."""
    lines = [
        "2026-11-27 20:31:10.473947: I tensorflow/core/platform/cpu_feature_guard.cc:151] This binary is fast",
        "step,loss,lr",
        *(f"{number},0.{9 - number},0.1" for number in range(1, 4)),
    ]
    log = "".join(
        f'{{"log": "{line}\\n", "stream": "stdout", "time": "2026-11-27T20:31:{10 + at}.500000000Z"}}\n'
        for at, line in enumerate(lines)
    )
    found = tables_of({"worker-0.log": log})["scalars"].filter(tag="loss")
    assert found["step"].to_list() == [1, 2, 3]
    assert found["time"].diff().drop_nulls().to_list() == [1.0, 1.0]
