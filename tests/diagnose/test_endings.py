"""How a worker ended is told with what ended it."""

from __future__ import annotations

import pytest

from analyzer.diagnose.endings import how_it_ended


@pytest.mark.parametrize(
    ("ended", "code", "signal", "with_what"),
    [
        ("finished", 0, None, ""),
        ("exited", 3, None, " (exit code 3)"),
        ("signal", -9, 9, " (SIGKILL)"),
        ("signal", -77, 77, " (signal 77)"),
        ("unknown", None, None, ""),
    ],
)
def test_a_signal_or_an_exit_code_is_named(
    ended: str, code: int | None, signal: int | None, with_what: str
) -> None:
    """The code of a worker that finished says nothing more."""
    bare = how_it_ended({"ended": ended, "exit_code": None, "signal": None})
    assert how_it_ended({"ended": ended, "exit_code": code, "signal": signal}) == bare + with_what
