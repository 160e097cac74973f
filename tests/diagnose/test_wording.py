"""How a worker ended is told with what ended it."""

from __future__ import annotations

import pytest

from analyzer.diagnose.wording import end_of, how_it_ended


@pytest.mark.parametrize(
    ("ended", "code", "name", "with_what"),
    [
        ("finished", 0, None, ""),
        ("exited", 3, None, " (exit code 3)"),
        ("signal", -9, "SIGKILL", " (SIGKILL)"),
        ("signal", -77, "signal 77", " (signal 77)"),
        ("unknown", None, None, ""),
    ],
)
def test_a_signal_or_an_exit_code_is_named(
    ended: str, code: int | None, name: str | None, with_what: str
) -> None:
    """The code of a worker that finished says nothing more."""
    bare = how_it_ended({"ended": ended, "exit_code": None, "signal": None})
    signal = -code if name and code else None
    life = {"ended": ended, "exit_code": code, "signal": signal, "signal_name": name}
    assert how_it_ended(life) == bare + with_what


def test_that_a_worker_still_ran_is_told_as_a_fact_only_if_a_file_states_it() -> None:
    """A recording without an end is also left by a kill of the recorder and its process."""
    stated, implied = (
        how_it_ended({"ended": "running", "exit_code": None, "signal": None, "sure": sure})
        for sure in (True, False)
    )
    assert stated == "was still running when the files were collected"
    assert "or was killed" in implied


@pytest.mark.parametrize(
    ("ended", "part", "cause", "told"),
    [
        ("unknown", "culprit", "peer.killed", "was killed"),
        ("unknown", "suspect", "peer.crashed", "crashed"),
        ("unknown", "witness", "peer.killed", "left no record of how it ended"),
        ("unknown", "culprit", "data.missing_file", "left no record of how it ended"),
        ("exception", "culprit", "peer.killed", "raised its own exception"),
    ],
)
def test_the_cause_of_the_verdict_says_how_a_blamed_worker_ended(
    ended: str, part: str, cause: str, told: str
) -> None:
    """Only where no file records its end, so that no sentence of a report contradicts another."""
    assert end_of({"ended": ended, "exit_code": None, "signal": None}, part, cause) == told


@pytest.mark.parametrize(("known", "told"), [(True, "exited before its planned end"), (False, "exited")])
def test_only_a_known_plan_is_mentioned(known: bool, told: str) -> None:
    """A script that says neither epochs nor steps may have done all that it was to do."""
    life = {"ended": "exited", "exit_code": 3, "signal": None, "plan_known": known}
    assert how_it_ended(life) == f"{told} (exit code 3)"
