"""Progress of loops that print several losses, or count days of data."""

import pytest

from analyzer.ingest.logs.progress.reader import ProgressReader


@pytest.mark.parametrize(
    ("line", "tags"),
    [
        ("[12/90] Loss_D: nan Loss_G: 3.1", ["step", "Loss_D", "Loss_G"]),
        ("(12/90) loss_disc=0.2 loss_gen=4", ["step", "loss_disc", "loss_gen"]),
        ("[12/90] loss_D_A 0.25 loss_D_B 0.24", ["step", "loss_D_A", "loss_D_B"]),
    ],
)
def test_each_of_several_losses_makes_a_fraction_a_step(line: str, tags: list[str]) -> None:
    """GANs print none that is only called `loss`."""
    points = ProgressReader().points(line)
    assert [point.tag for point in points] == tags
    assert {(point.step, point.steps) for point in points} == {(12, 90)}


@pytest.mark.parametrize("line", ["[3/9] loss_scale=32768", "[3/9] loss_weight: 0.5"])
def test_a_setting_of_the_loss_is_none(line: str) -> None:
    """A fraction beside it may count anything."""
    assert ProgressReader().points(line) == []


@pytest.mark.parametrize(("line", "read"), [("day={} logloss=0.41", True), ("day {} of it, 0.5 left", False)])
def test_a_day_of_data_is_a_step_where_it_is_a_key(line: str, read: bool) -> None:
    """Recommenders are trained on one day after the other; a day in prose is a duration or a date."""
    reader = ProgressReader()
    points = [reader.points_counted(line.format(day)) for day in (3, 4, 5, 6)]
    assert bool(points[-1]) is read
