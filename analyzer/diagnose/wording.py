"""Loads the wording of the diagnosis from `wording.yaml`, and describes how workers ended."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from analyzer.storage.disk_cache import cached_yaml

_SIGTERM = 15


@cache
def wording() -> Mapping[str, Any]:
    """Return the contents of `wording.yaml`: the texts of the diagnosis that come from no rule."""
    words: Mapping[str, Any] = cached_yaml(Path(__file__).with_name("wording.yaml"))
    return words


def how_it_ended(life: Mapping[str, Any]) -> str:
    """Describe how a worker ended, e.g. `was ended by a signal (SIGKILL)`."""
    text: str = wording()["ends"][_way_of_ending(life)]
    if life["signal"]:
        text += f" ({life['signal_name']})"
    elif life["exit_code"] is not None and life["ended"] != "finished":
        text += f" (exit code {life['exit_code']})"
    return text


def ended_on_its_own(life: Mapping[str, Any]) -> bool:
    """Return True if a file states an abnormal end that is none of SIGTERM, as a launcher sends to all."""
    if not life["sure"]:
        return False
    left = life["ended"] == "exited" and (life["exit_code"] or 0) > 0
    return left or life["ended"] == "exception" or (life["ended"] == "signal" and life["signal"] != _SIGTERM)


def _way_of_ending(life: Mapping[str, Any]) -> str:
    """Return the key of the phrase for `ended`; `running`, `exited` and `unknown` have one more."""
    if life["ended"] == "unknown" and life.get("listed"):
        return "listed"
    if life["ended"] == "finished" and life.get("left_short"):
        return "finished_short"
    if life["ended"] == "running" and not life.get("sure", True):
        return "goes_on"
    return "exited_unplanned" if life["ended"] == "exited" and not life.get("plan_known") else life["ended"]


def end_of(life: Mapping[str, Any], part: str, cause: str | None = None) -> str:
    """Describe how a worker ended.

    For a culprit, `ended with an error` replaces `lost a peer`. If no file records how a blamed worker ended,
    or only Python's fatal error, the phrase is that of the verdict's `cause`.
    """
    text, ended = how_it_ended(life), life["ended"]
    if part == "culprit" and ended == "aborted_by_peer":
        return text.replace(wording()["ends"][ended], "ended with an error")
    crashed = (ended, cause) == ("exception", "peer.crashed")
    implied = part in {"culprit", "suspect"} and (ended == "unknown" or crashed)
    return wording()["ends_by_cause"].get(cause, text) if implied else text
