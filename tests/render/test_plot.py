"""The curves of training in the report."""

from analyzer.render.page.plot import plots


def test_the_step_at_which_a_loss_exploded_is_marked() -> None:
    """On its curve, as the first value that is not finite is."""
    curve = {"tag": "loss", "scope": "local", "kept": 3, "total": 3, "exploded_at": 2}
    curve["points"] = [[1, 2.3, None], [2, 9200.5, None], [3, 310000.0, None]]
    worker = {"id": "worker:0", "part": "bystander", "last_step": {"epoch": None, "step": 3}}
    (drawn,) = plots({"workers": [{**worker, "curves": [curve]}], "culprits": [], "suspects": []})
    assert drawn["first_odd"][1:] == ("exploded", 2)


def test_values_that_are_not_finite_are_marked_to_the_end() -> None:
    """Evenly, where there are many: a loss that stays NaN must not look as if it recovered."""
    curve = {"tag": "loss", "scope": "local", "kept": 60, "total": 60}
    curve["points"] = [[step, 0.5 if step < 10 else "nan", None] for step in range(1, 61)]
    worker = {"id": "worker:0", "part": "bystander", "last_step": {"epoch": None, "step": 60}}
    (drawn,) = plots({"workers": [{**worker, "curves": [curve]}], "culprits": [], "suspects": []})
    steps = [step for _, _, step in drawn["layers"][0].odd]
    assert steps == [*range(10, 61, 3)]
