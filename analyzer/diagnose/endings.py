"""Describes in words how a worker ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ENDED = {
    "finished": "reached its planned end",
    "exception": "raised an exception of its own",
    "aborted_by_peer": "stopped because it lost a peer",
    "signal": "was ended by a signal",
    "exited": "left before its planned end",
    "vanished": "fell silent without a word",
    "stopped": "was stopped while it waited",
    "running": "was still running when the files were collected",
    "never_started": "left no file at all",
    "unknown": "does not say how it ended",
}
_SIGNALS = {
    1: "SIGHUP",
    2: "SIGINT",
    4: "SIGILL",
    6: "SIGABRT",
    7: "SIGBUS",
    9: "SIGKILL",
    11: "SIGSEGV",
    15: "SIGTERM",
}


def how_it_ended(life: Mapping[str, Any]) -> str:
    """Describe how a worker ended, e.g. `was ended by a signal (SIGKILL)`."""
    text = ENDED[life["ended"]]
    if life["signal"]:
        text += f" ({_SIGNALS.get(life['signal'], 'signal ' + str(life['signal']))})"
    elif life["exit_code"] is not None and life["ended"] != "finished":
        text += f" (exit code {life['exit_code']})"
    return text


def end_of(life: Mapping[str, Any], part: str) -> str:
    """Describe how a worker ended; a culprit is never said to have stopped because it lost a peer."""
    text = how_it_ended(life)
    if part != "culprit" or life["ended"] != "aborted_by_peer":
        return text
    return text.replace(ENDED["aborted_by_peer"], "ended with an error")
