"""Tells how each worker ended: by its files, else by comparing it with its peers.

A file records an end by exit code, final traceback or completion line. Any other end is inferred, and marked
so (the second item of a pair is False).
"""

from collections.abc import Mapping, Sequence

import polars as pl

from analyzer.derive.endings.last_errors import ended_by_it
from analyzer.derive.endings.life import Life, comparable_places
from analyzer.derive.endings.teardown import NOT_SENT_BY_LAUNCHERS, scheduler_stop, terminated_by_stop
from analyzer.derive.training.ordering import Row, comes_after
from analyzer.model.messages import Messages, Wording

_SIGABRT, _SIGKILL, _SIGTERM = 6, 9, 15
_STACKS = ("stands_inside_tensorflow", "stands_outside_tensorflow")
"""Facts from a dump of a live process's stacks: it ran until then, though its log may have stopped before."""

_JOINED = ("agent_connected", "assembled", "replicas", "server_address")
"""Facts that a worker states on its way into the cluster, the last one first."""
_OF_PODS = ("pod_event", "pod_status")
_OF_RUNNING_PODS = frozenset(
    {"Evicted", "Killing", "NodeNotReady", "Preempted", "Started", "TaintManagerEviction", "Unhealthy"}
    | {"OOMKilled", "Error", "NodeLost"}
)
"""Reasons of events of Kubernetes, and states of its list, that befall only a pod that was started."""


def ends(lives: Sequence[Life], facts: pl.DataFrame, messages: Messages) -> dict[str, tuple[str, bool]]:
    """Return worker → how it ended, and True if a file states that, False if it is inferred."""
    ended = {life.worker: _end_of(life) for life in lives}
    ended |= _killed_first(lives, ended, messages.wording("peer_gone"))
    _from_the_peers(lives, ended, facts)
    return ended | _finished_in_silence(lives, ended, messages)


def _end_of(life: Life) -> tuple[str, bool]:
    """Return how a worker ended, and True if a file states that, False if it is inferred."""
    if not life.row["seen"]:
        return _ended_unseen(life)
    code, raised = life.exit_code, life.exception
    closing = None if life.left_on_sigterm else life.closing
    closed = closing is not None and (raised is None or comes_after(closing, raised) or life.aborted_at_exit)
    if closing and code is None and life.place and life.place.is_within_epoch:
        closed = closed and closing["of_training"]
    closed = closed and not life.raised_short_of_plan
    if closed and (code in {None, 0, -6} or life.terminated_after_closing):
        return "finished", True
    leaves = raised is None or raised["type"] in {"KeyboardInterrupt", "SystemExit"}
    swallowed = code == 0 and raised is not None and (life.raised_short_of_plan or _was_last(raised, life))
    died = swallowed or code in {None, 1, 255, -6}
    if raised is not None and not leaves and died:
        sure = code is not None or _nothing_may_follow(raised, life)
        return ("exception" if raised["own"] else "aborted_by_peer"), sure
    if code in {None, 1} and raised is not None and raised["type"] == "KeyboardInterrupt":
        return "stopped", _nothing_may_follow(raised, life)
    if code is not None:
        return _ended_with_code(life, code)
    return _ended_without_code(life)


def _nothing_may_follow(raised: Row, life: Life) -> bool:
    """Return True if the exception follows the last step and the line that says `finished`."""
    others = (life.closing, life.place._asdict() if life.place else None)
    return all(comes_after(raised, other) for other in others if other)


def _was_last(raised: Row, life: Life) -> bool:
    """Return True if nothing follows an exception that the script caught before it exited with 0.

    If a lost peer caused the exception, lines of TensorFlow itself may follow.
    """
    below = [row for row in life.records if comes_after(row, raised) and row["line"] != raised["line"]]
    of_tensorflow = all(row["kind"] in {"cpp", "traceback"} for row in below)
    return _nothing_may_follow(raised, life) and (of_tensorflow if not raised["own"] else not below)


def _ended_unseen(life: Life) -> tuple[str, bool]:
    """Return the same for a worker without files."""
    if (code := life.exit_code) is not None:
        signalled = "stopped" if life.ended_after_another and not life.killed_for_memory else "signal"
        return (signalled if code < 0 else "exited"), True
    if life.fact("exit_code") == "running":
        return "running", life.facts["exit_code"][-1]["line"] is not None
    ran = any(fact["value"] in _OF_RUNNING_PODS for key in _OF_PODS for fact in life.facts[key])
    started = life.attempts or life.seen_by_peers or ran or not life.absence_tells
    return ("unknown" if started else "never_started"), False


def _ended_with_code(life: Life, code: int) -> tuple[str, bool]:
    if code < 0:
        aborted = life.exception is not None and not life.exception["own"]
        torn_down = bool(life.facts["sigterm"]) or aborted or life.torn_down
        return ("stopped" if torn_down and not life.killed_for_memory else "signal"), True
    if _broke_off(life):
        return "aborted_by_peer", True
    if code == 0 and life.left_on_sigterm:
        return "stopped", True
    if code == 0 and (life.place is None or life.place.epochs is None or life.place.is_planned_end):
        return "finished", life.place is None or life.place.is_planned_end
    return "exited", True


def _broke_off(life: Life) -> bool:
    """Return True if a collective operation under way ended with an error, before the planned end."""
    broke, place = life.facts["collective_broke"], life.place
    if not broke or (place is not None and place.is_planned_end):
        return False
    return place is None or not comes_after(place._asdict(), broke[-1])


def _ended_without_code(life: Life) -> tuple[str, bool]:
    stated = life.fact("exit_code") == "running" and life.facts["exit_code"][-1]["line"] is not None
    if life.place is not None and life.place.is_planned_end and not stated:
        return "finished", False
    if life.fact("exit_code") == "running":
        return "running", stated
    if any(life.facts[key] for key in _STACKS):
        return "running", False
    return ("stopped" if life.facts["sigterm"] else "unknown"), False


def _killed_first(
    lives: Sequence[Life], ended: Mapping[str, tuple[str, bool]], gone: Wording
) -> dict[str, tuple[str, bool]]:
    """Return worker → its end if a launcher that reports the end of another first cannot have killed it.

    Launchers list ends in the order of workers, or of their own waiting. All other workers must have lost a
    connection because the process at its other end was `gone`: nobody else is left whose loss that can be.
    """
    training = [life for life in lives if life.row["trains"]]
    others = [life for life in training if ended[life.worker][0] == "aborted_by_peer"]
    lost = others and all(gone.is_in((life.exception or {}).get("message") or "") for life in others)
    left = [life for life in training if life not in others]
    if not lost or len(left) != 1 or not _was_signalled_only(left[0]):
        return {}
    return {left[0].worker: ("signal", True)}


def _was_signalled_only(life: Life) -> bool:
    """Return True if a signal that no launcher sends first ended a worker whose log tells of no trouble."""
    told = life.exception or life.facts["sigterm"] or life.facts["collective_broke"]
    return life.torn_down and not told and life.fact("exit_code") in NOT_SENT_BY_LAUNCHERS


def _from_the_peers(lives: Sequence[Life], ended: dict[str, tuple[str, bool]], facts: pl.DataFrame) -> None:
    """Refine `ended` in place by comparing workers: vanished, left early, or torn down with the job."""
    training = [life for life in lives if life.row["trains"]]
    places, by_scheduler = comparable_places(training), scheduler_stop(facts) is not None
    foremost = max(places.values(), default=(0, 0))
    bound = [life for life in lives if life.row["role"] != "evaluator"]
    someone_fell = any(ended[life.worker][0] in {"aborted_by_peer", "exception"} for life in bound)
    torn_down = len(training) > 1 and all(life.exit_code in {-_SIGKILL, -_SIGTERM} for life in training)
    for life in lives:
        how, sure = ended[life.worker]
        if how == "unknown" and (someone_fell or by_scheduler) and life.row["trains"] and life.row["seen"]:
            ended[life.worker] = ("vanished" if someone_fell else "stopped", False)
        if how == "finished" and someone_fell and _left_after_error(life):
            ended[life.worker] = ("vanished", False)
        if how == "signal" and _aborted_at_exit(life, lives):
            ended[life.worker] = ("finished", False)
        if how == "finished" and not sure and places.get(life.worker, foremost) < foremost:
            ended[life.worker] = ("exited", life.exit_code == 0)
        torn = torn_down or any(terminated_by_stop(code, facts) for code in life.facts["exit_code"][-1:])
        if how == "signal" and torn and not life.killed_for_memory:
            ended[life.worker] = ("stopped", False)
    if _stopped_together(training, ended):
        ended |= {life.worker: ("finished", True) for life in training}


def _aborted_at_exit(life: Life, lives: Sequence[Life]) -> bool:
    """Return True if the last line is libstdc++'s about a thread left over, and all others exited with 0.

    A collector may have put a time or a label in front of it.
    Workers of collectives cannot reach their end once one of them is gone, so it was at its end as well.
    """
    others = [other for other in lives if other is not life]
    if life.exit_code != -_SIGABRT or life.exception or not others or not life.tail:
        return False
    served = any(other.row["role"] == "ps" for other in others)
    left_over = life.tail[-1]["text"].rstrip().endswith("terminate called without an active exception")
    return left_over and not served and all(other.exit_code == 0 for other in others)


def _left_after_error(life: Life) -> bool:
    """Return True if only a phrase such as `bye` below an error suggests that the worker finished."""
    if life.exit_code is not None or (life.place is not None and life.place.is_planned_end):
        return False
    return ended_by_it(life.last_error, life.closing)


def _stopped_together(training: Sequence[Life], ended: Mapping[str, tuple[str, bool]]) -> bool:
    """Return True if all exited with 0 at the same position before the plan was done."""
    places = set(comparable_places(training).values())
    left = all(ended[life.worker][0] == "exited" and life.exit_code == 0 for life in training)
    return bool(training) and left and len(places) == 1


def _finished_in_silence(
    lives: Sequence[Life], ended: Mapping[str, tuple[str, bool]], messages: Messages
) -> dict[str, tuple[str, bool]]:
    """Return silent worker → its inferred end, if all workers that report are known to have finished.

    Many scripts report on one worker only: `if rank == 0: print(…)`. A step of a collective needs every
    worker; where parameter servers hold the variables, it does not.
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
