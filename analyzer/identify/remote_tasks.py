"""Finds the tasks that a log mentions as its peers, so that the log cannot be theirs."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice, pairwise

import polars as pl

from analyzer.identify.statements import Statement, Statements
from analyzer.model.messages import Messages, Wording
from analyzer.model.task_names import task_of, tasks_in

_LOSSES = ("heartbeat", "down", "transport")
"""Kinds of lost-peer messages that no task prints about itself."""
_RECEIVE = "WorkerService/RecvBuf"
"""The call by which a task receives its part of a collective from a peer."""
OF_THE_LEADER = {"connected", "leader"}
"""Facts that only the leader states; a leader may also wait for itself."""


class RemoteTasks:
    """Function: sources of one log → the tasks that they report as lost, call, or wait for."""

    def __init__(self, records: pl.DataFrame, stated: Statements, messages: Messages) -> None:
        self._records, self._stated, self._messages = records, stated, messages

    def __call__(self, sources: Sequence[str]) -> set[str]:
        """Return the tasks that the log mentions as its peers."""
        named = {task for name in sources for task in self._named.get(name, ())}
        return named | _awaited([fact for name in sources for fact in self._stated.get(name, ())])

    def chains(self, sources: Sequence[str]) -> set[tuple[str, ...]]:
        """Return the chains of failed calls within a collective that the log reports, each a tuple of tasks.

        Each task of a chain called the one before it, and the log's own task called the last.
        """
        return {chain for name in sources for chain in self._chains.get(name, ())}

    @cached_property
    def _chains(self) -> Mapping[str, set[tuple[str, ...]]]:
        wording = [re.compile(each.expression) for each in self._messages.stating("remote_target")]
        literals = [*self._messages.literals("remote_target")]
        calls = self._records.filter(pl.col("text").str.contains_any(literals))
        found: dict[str, set[tuple[str, ...]]] = {}
        for source, text in calls.select("source", "text").iter_rows():
            own = [match for each in wording for match in each.finditer(f"{text}\n")]
            if own and all(match.groupdict().get("method") == _RECEIVE for match in own):
                found.setdefault(source, set()).add(tuple(map(task_of, own)))
        return found

    @cached_property
    def _named(self) -> Mapping[str, set[str]]:
        """Return source → the tasks that its records name as peers; all records are searched once."""
        stating, literals = self._messages.stating, self._messages.literals
        lost = [re.compile(each.expression) for how in _LOSSES for each in stating("peer", how)]
        called = [re.compile(each.expression) for each in stating("remote_target")]
        ended = self._messages.wording("peer_gone")
        words = [*literals("peer"), *literals("remote_target")]
        if not words:  # rules of one's own alone describe no message of TensorFlow
            return {}
        naming = self._records.filter(pl.col("text").str.contains_any(words))
        found: dict[str, set[str]] = {}
        for source, text in naming.select("source", "text").iter_rows():
            # A collector may have dropped the line below, which says what became of the call.
            leads = any(fact.key in OF_THE_LEADER for fact in self._stated.get(source, ()))
            tasks = (
                _lost(text, lost),
                _called(f"{text}\n", called, leads),
                _gone(f"{text}\n", called, ended),
            )
            found.setdefault(source, set()).update(*tasks)
        return found


def _lost(text: str, wording: Iterable[re.Pattern[str]]) -> Iterator[str]:
    for pattern in wording:
        for match in pattern.finditer(text):
            groups = match.groupdict()
            yield from tasks_in(groups["tasks"]) if groups.get("tasks") else ()
            if groups.get("role"):
                yield task_of(match)


def _called(text: str, wording: Iterable[re.Pattern[str]], leads: bool) -> Iterator[str]:
    """Yield the last target in a status, called by the log's own task; earlier ones are of nested statuses.

    The leader's calls of its own coordination service are left out; `leads` tells whether the log is its.
    """
    for pattern in wording:
        for match in [*pattern.finditer(text)][-1:]:
            if not (leads and str(match.groupdict().get("method")).startswith("CoordinationService")):
                yield task_of(match)


def _gone(text: str, wording: Iterable[re.Pattern[str]], ended: Wording) -> Iterator[str]:
    """Yield the first target in a status if its process had ended: a log that goes on is another task's.

    The first target is that of the innermost call, whose status other tasks passed on.
    """
    targets = sorted((match for pattern in wording for match in pattern.finditer(text)), key=re.Match.start)
    for first, second in islice(pairwise(targets), 1):
        if ended.is_in(text[first.end() : second.start()]):
            yield task_of(first)


def _awaited(facts: Sequence[Statement]) -> set[str]:
    if any(fact.key in OF_THE_LEADER for fact in facts):
        return set()
    return {fact.value for fact in facts if fact.key == "awaits"}
