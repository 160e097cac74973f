"""The curves of training in the report."""

from analyzer.render.page.plot import plots


def test_the_step_at_which_a_loss_exploded_is_marked() -> None:
    """On its curve, as the first value that is not finite is."""
    curve = {"tag": "loss", "scope": "local", "kept": 3, "total": 3, "exploded_at": 2}
    curve["points"] = [[1, 2.3, None], [2, 9200.5, None], [3, 310000.0, None]]
    worker = {"id": "worker:0", "part": "bystander", "last_step": {"epoch": None, "step": 3}}
    (drawn,) = plots({"workers": [{**worker, "curves": [curve]}], "culprits": [], "suspects": [], "why": []})
    assert drawn["first_odd"][1:] == ("exploded", 2)


def test_values_that_are_not_finite_are_marked_to_the_end() -> None:
    """Evenly, where there are many: a loss that stays NaN must not look as if it recovered."""
    curve = {"tag": "loss", "scope": "local", "kept": 60, "total": 60}
    curve["points"] = [[step, 0.5 if step < 10 else "nan", None] for step in range(1, 61)]
    worker = {"id": "worker:0", "part": "bystander", "last_step": {"epoch": None, "step": 60}}
    (drawn,) = plots({"workers": [{**worker, "curves": [curve]}], "culprits": [], "suspects": [], "why": []})
    steps = [step for _, _, step in drawn["layers"][0].odd]
    assert steps == [*range(10, 61, 3)]


def test_a_quantity_that_decides_is_drawn_first_and_values_of_epochs_by_epoch() -> None:
    """Of seven quantities, six are drawn."""
    tags = ["loss", "host_s", "read_s", "a", "b", "c", "mean_loss"]
    curves = [
        {"tag": tag, "scope": "local", "points": [[1, 2.3, None]], "kept": 1, "total": 1} for tag in tags
    ]
    curves[-1]["axis"] = "epoch"
    worker = {
        "id": "worker:0",
        "part": "bystander",
        "last_step": {"epoch": None, "step": 3},
        "curves": curves,
    }
    said = ["In its log, read_s takes 93.2 % of a step."]
    drawn = plots({"workers": [worker], "culprits": [], "suspects": [], "why": said})
    assert [plot["tag"] for plot in drawn] == ["read_s", "loss", "mean_loss", "a", "b", "c"]
    assert [plot["axis"] for plot in drawn] == ["step", "step", "epoch", "step", "step", "step"]
