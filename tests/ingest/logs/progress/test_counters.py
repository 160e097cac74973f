"""Counters of loops that name neither step nor epoch: which of several numbers counts, and from where."""

import pytest

from analyzer.ingest.logs.progress.reader import ProgressReader


def steps(*texts: str) -> list[tuple[int | None, int | None]]:
    """Return the step and the planned steps of each line that is progress."""
    reader = ProgressReader()
    points = [point for text in texts for point in reader.points_counted(text)]
    return [(point.step, point.steps) for point in points if point.tag == "step"]


@pytest.mark.parametrize(
    "line",
    [
        "stepped slot=3 stage=warm round={} of=90 regret=0.69",
        "round {}/90 slot=3 regret=0.69",
        "slot=3 regret=0.69 round={} of 90",
    ],
)
def test_a_counter_of_a_usual_name_goes_before_a_number_that_stays(line: str) -> None:
    """Loggers of `key=value` put bound values, such as the number of a process, in front."""
    assert steps(*map(line.format, (3, 4, 5))) == [(5, 90)]


def test_what_stands_before_a_usual_name_may_change() -> None:
    """The next phase goes on, with a plan of its own."""
    lines = [f"slot=3 stage=warm round={n} of=60 regret=0.6" for n in (20, 40, 60)]
    lines += [f"slot=3 stage=main round={n} of=80 regret=0.6" for n in (20, 40)]
    assert steps(*lines) == [(60, 60), (20, 80), (40, 80)]


@pytest.mark.parametrize(("again", "shown"), [((20, 40), [20, 40]), ((30, 40), [])])
def test_a_counter_may_begin_again_where_it_began(again: tuple[int, ...], shown: list[int]) -> None:
    """As a program that prints every 20th round does; a counter that jumps back otherwise counts no steps."""
    lines = [f"round {n}: bce 0.31" for n in (20, 40, 60, *again)]
    assert [step for step, _ in steps(*lines)] == [60, *shown]


def test_the_trials_of_a_search_are_its_steps() -> None:
    """The parameters that Optuna prints behind a trial's value do not make its line a configuration."""
    line = (
        "Trial {} finished with value{}: {} and parameters: {{'lr': 0.1}}. Best is trial 0 with value: 0.5."
    )
    ends = [line.format(n, "", 0.25) for n in range(3)]
    assert steps(*ends) == steps(*(line.format(n, "s", [0.25, 8.0]) for n in range(3))) == [(2, None)]
    assert steps(*(f"Trial {n} pruned. parameters: {{'lr': 0.1}}" for n in range(9))) == []
    assert steps(*(f"trying parameters: {{'depth': {n}}} value 0.5" for n in range(9))) == []
