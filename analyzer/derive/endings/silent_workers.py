"""Infers the end of workers whose script reports on one of them only, as `if rank == 0: print(…)` does."""

from collections.abc import Mapping, Sequence

from analyzer.derive.endings.life import Life
from analyzer.derive.training.ordering import comes_after
from analyzer.model.messages import Messages, Wording

_JOINED = ("agent_connected", "assembled", "replicas", "server_address")
"""Facts that a worker states on its way into the cluster, the last one first."""


def finished_in_silence(
    lives: Sequence[Life], ended: Mapping[str, tuple[str, bool]], messages: Messages
) -> dict[str, tuple[str, bool]]:
    """Return silent worker → its inferred end, if all workers that report are known to have finished.

    A step of a collective needs every worker. Where parameter servers hold the variables, it does not.
    """
    lost = messages.wording("reason", "transport")
    training = [life for life in lives if life.row["trains"]]
    silent = [life for life in training if ended[life.worker][0] == "unknown" and _is_silent(life, lost)]
    reporting = [life for life in training if life not in silent]
    led = any(life.row["leader"] for life in reporting)
    done = led and all(ended[life.worker] == ("finished", True) for life in reporting)
    if not done or any(life.row["role"] == "ps" for life in lives):
        return {}
    return {life.worker: ("finished", False) for life in silent}


def _is_silent(life: Life, lost: Wording) -> bool:
    """Return True if a worker ran in the cluster, and its log tells neither of a step nor of trouble.

    TensorFlow logs a lost connection without raising an error where the leader was the first to leave.
    """
    troubled = life.exception or any(
        life.facts[key] for key in ("collective_broke", "sigterm", "ends_within_line", "excerpt_begins")
    )
    joined = next((life.facts[key][-1] for key in _JOINED if life.facts[key]), None)
    if troubled or life.place is not None or not life.seen_by_peers or not life.row["logged"] or not joined:
        return False
    errors = (row for row in life.records if row["level"] in {"E", "F"} and comes_after(row, joined))
    return all(row["kind"] == "cpp" and lost.is_in(row["text"]) for row in errors)
