"""Whether a restart went on with the weights of an older save."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from analyzer.derive.checksums.restores import restores
from analyzer.tables.builders import frame

SAVES = {3: "a", 6: "b", 9: "c"}
"""Steps that had ended → the weights that were saved then."""


def sums(
    attempt: int, line: int, kind: str, step: int, digest: str, name: str = "kernel [4, 1]"
) -> dict[str, object]:
    """The checksum of a variable."""
    place = {"worker": "worker:0", "attempt": attempt, "source": f"{attempt}.jsonl", "line": line}
    return {**place, "kind": kind, "step": step, "name": name, "digest": digest}


def logged(attempt: int, numbers: Sequence[int], **columns: object) -> list[dict[str, object]]:
    """The steps that an attempt logged."""
    shared = {"worker": "worker:0", "attempt": attempt, "tag": "loss", "origin": "loop", **columns}
    return [{**shared, "step": number} for number in numbers]


def passed(
    begun: str,
    again: Sequence[int],
    saves: Mapping[int, str] = SAVES,
    steps: Sequence[int] = range(1, 11),
) -> tuple[int, int | None] | None:
    """Which save an attempt began with, and how many later ones were made before its first step."""
    rows = [sums(1, line, "saved_weights", *each) for line, each in enumerate(saves.items(), 2)]
    rows += [sums(1, 1, "weights", 0, "fresh"), sums(2, 1, "weights", 0, begun)]
    found = restores(frame("checksums", rows), frame("scalars", [*logged(1, steps), *logged(2, again)]))
    return next(((row["save"], row["passed"]) for row in found.to_dicts()), None)


@pytest.mark.parametrize(
    ("begun", "again", "found"),
    [
        ("a", [10, 11], (1, 1)),  # the one after step 9 may have been made at step 10, where calls are fewer
        ("a", [11, 12], (1, 2)),
        ("c", [10, 11], (3, 0)),
        ("a", [4, 5], (1, 0)),
        ("b", [7, 8], (2, 0)),
        ("fresh", [10, 11], None),
        ("a", [], (1, None)),
    ],
)
def test_a_save_was_passed_where_the_restart_goes_on_behind_it(
    begun: str, again: Sequence[int], found: tuple[int, int | None] | None
) -> None:
    """A program that goes on at the step of an older checkpoint does so rightly."""
    assert passed(begun, again) == found


def test_equal_saves_count_as_the_last_of_them() -> None:
    """Weights that did not change were restored whichever it was."""
    assert passed("a", [11], {3: "a", 6: "b", 9: "a"}) == (3, 0)


def test_a_log_of_each_tenth_step_leaves_nine_open() -> None:
    """The restart may have gone on at any of them."""
    saves = {30: "a", 33: "b", 60: "c"}
    assert passed("a", [40, 50], saves, range(10, 70, 10)) == (1, 0)
    assert passed("a", [70, 80], saves, range(10, 70, 10)) == (1, 1)


def test_calls_of_several_steps_are_counted_as_such() -> None:
    """With ten steps in each call, the third save is of step 330 and not of 33."""
    saves = {3: "a", 33: "b", 60: "c"}
    assert passed("a", [40], saves, range(1, 601)) == (1, 0)
    assert passed("a", [340], saves, range(1, 601)) == (1, 1)


def test_all_variables_count() -> None:
    """Zeros of a bias are the same in every checkpoint."""
    bias = [sums(1, 2, "saved_weights", 3, "0", "bias [1]"), sums(2, 1, "weights", 0, "0", "bias [1]")]
    kernel = [sums(1, 2, "saved_weights", 3, "a"), sums(2, 1, "weights", 0, "b")]
    found = restores(frame("checksums", [*bias, *kernel]), frame("scalars", []))
    assert found.is_empty()


def test_steps_under_fit_are_counted_over_the_epochs() -> None:
    """Step 2 of epoch 3 of five steps is the twelfth."""
    rows = [sums(1, line, "saved_weights", *each) for line, each in enumerate(SAVES.items(), 2)]
    rows.append(sums(2, 1, "weights", 0, "a"))
    epochs = [each for epoch in (1, 2) for each in logged(1, range(1, 6), epoch=epoch, steps=5, origin="fit")]
    again = logged(2, [2], epoch=3, steps=5, origin="fit")
    (row,) = restores(frame("checksums", rows), frame("scalars", [*epochs, *again])).to_dicts()
    assert (row["resumed_step"], row["passed"]) == (12, 2)
