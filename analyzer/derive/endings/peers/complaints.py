"""Reads from an error which peer it reports as lost, in the wording of every TensorFlow version.

A survivor's error names the peer that it lost. A status that passed through several workers names
several peers; the innermost one, next to the root message, is the origin. Coordination heartbeats name the
silent task; failed calls to the coordination service name the leader, which hosts it.
The wording is in `rules/messages/`: messages that state `peer`, `remote_target`, `wraps_status` or `reason`.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from analyzer.derive.cluster.addresses import host_name
from analyzer.model.messages import STATES, Messages, Wording
from analyzer.model.task_names import listed_workers, task_of, tasks_in

_MAX_DETAIL = 1_200
"""Number of characters after a remote target that are searched for gRPC's reason."""
_PASSED_BACK = re.compile(r"Error received from peer.*grpc_message\W{1,5}Collective ops is aborted by: ")
"""Regex of an answer: the peer was reached, and told in which status its own operation had ended."""


class Complaint(NamedTuple):
    """A report that a peer is lost: which peer, what kind of report, and its offset in the text."""

    worker: str
    kind: str
    method: str | None
    at: int
    told_by: str | None = None
    """The task whose status the record passes on; None if the accuser found out by itself."""


class PeerWording(NamedTuple):
    """The messages that name peers."""

    peers: Mapping[str, Wording]
    targets: Wording
    wrappers: Wording
    reasons: Mapping[str, Wording]
    gone: Wording
    silent: Wording


def peer_wording(messages: Messages) -> PeerWording:
    """Return the messages that name peers, with what each tells of them."""
    return PeerWording(
        {how: messages.wording("peer", how) for how in STATES["peer"].words},
        messages.wording("remote_target"),
        messages.wording("wraps_status"),
        {how: messages.wording("reason", how) for how in STATES["reason"].words},
        messages.wording("peer_gone"),
        messages.wording("peer_silent"),
    )


def complaints(text: str, leader: str, tasks: Mapping[str, str], wording: PeerWording) -> Iterator[Complaint]:
    """Yield each report of a lost peer in a record's text.

    `leader` is the task that hosts the coordination service, `tasks` maps addresses and hosts to tasks.
    """
    for how, words in wording.peers.items():
        for match in words.matches(text):
            for task in _tasks_named(match, text, leader, tasks, wording):
                told_by = _told_by(text, task, wording) if how == "down" else None
                yield Complaint(task, how, match.groupdict().get("method"), match.start(), told_by)
    yield from _remote(text, leader, wording)


def _told_by(text: str, lost: str, wording: PeerWording) -> str | None:
    """Return the task that answered with the status of a lost one; None if the status is not from a peer."""
    answered = (task_of(match) for match in wording.targets.matches(text))
    return next((task for task in answered if task != lost), None)


def _tasks_named(
    match: re.Match[str], text: str, leader: str, tasks: Mapping[str, str], wording: PeerWording
) -> list[str]:
    """Return the tasks that a message names: directly, in a list, by rank, by address, or as the leader."""
    groups = match.groupdict()
    if "tasks" in groups:
        return tasks_in(match["tasks"])
    if "ranks" in groups:
        return listed_workers("tasks " + match["ranks"].replace(" ", ""))
    if "address" in groups:
        named = tasks.get(match["address"]) or tasks.get(host_name(match["address"]))
        return [named] if named else []
    if "role" in groups:
        return [task_of(match)] if match["role"] else []
    failed = (wording.reasons["deadline"], wording.reasons["transport"])
    return [leader] if any(reason.is_in(text) for reason in failed) else []


def _remote(text: str, leader: str, wording: PeerWording) -> Iterator[Complaint]:
    """Yield the peer whose RPC failed; of a nested status, the one next to the root message."""
    root = max((match.end() for match in wording.wrappers.matches(text)), default=0)
    targets = sorted(wording.targets.matches(text), key=lambda match: match.start())
    match = next((each for each in targets if each.start() >= root), targets[0] if targets else None)
    if not match:
        return
    before = text[root if root < match.start() else 0 : match.start()]
    rest = text[match.end() : match.end() + _MAX_DETAIL].partition("Additional GRPC")[0]
    kind = _reason(before, wording)
    if kind is None and not _PASSED_BACK.search(rest.partition("\n")[0]):
        kind = _reason(rest.partition("\n")[0], wording)
    task, method = task_of(match), match.groupdict().get("method")
    if wording.reasons["leader"].is_in(before):
        kind = "leader"
    elif method and method.startswith("CoordinationService"):
        # The leader calls the other workers only to report that the job failed.
        kind = "leader" if task == leader and kind in {"transport", "deadline"} else None
    if kind:
        yield Complaint(task, kind, method, match.start())


def is_unanswered(text: str, wording: PeerWording) -> bool:
    """Return True if a report says that nothing answered (in time), and not that a process ended."""
    deadline, transport = (wording.reasons[how].is_in(text) for how in ("deadline", "transport"))
    silent = wording.silent.is_in(text) or (deadline and not transport)
    return silent and not wording.gone.is_in(text)


def _reason(before: str, wording: PeerWording) -> str | None:
    ways = ((how, words) for how, words in wording.reasons.items() if how != "leader")
    return next((how for how, words in ways if words.is_in(before)), None)
