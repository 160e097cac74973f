"""Finds the tasks that a log mentions as its peers, so that the log cannot be theirs."""

import re
from collections.abc import Iterable, Iterator, Sequence

import polars as pl

from analyzer.identify.statements import Statement, Statements
from analyzer.model.messages import Messages
from analyzer.model.task_names import task_of, tasks_in

_LOSSES = ("heartbeat", "down", "transport")
"""Kinds of lost-peer messages that no task prints about itself."""
OF_THE_LEADER = {"connected", "leader"}
"""Facts that only the leader states; a leader may also wait for itself."""


def remote_tasks(
    records: pl.DataFrame, stated: Statements, messages: Messages, sources: Sequence[str]
) -> set[str]:
    """Return the tasks that the sources of one log report as lost, call, or wait for."""
    lost = [re.compile(each.expression) for how in _LOSSES for each in messages.stating("peer", how)]
    called = [re.compile(each.expression) for each in messages.stating("remote_target")]
    words = (*messages.literals("peer"), *messages.literals("remote_target"))
    own = records.filter(pl.col("source").is_in(list(sources)))["text"]
    texts = [text for text in own.to_list() if any(word in text for word in words)]
    found = {task for text in texts for task in (*_lost(text, lost), *_called(text, called))}
    return found | _awaited([fact for name in sources for fact in stated.get(name, ())])


def _lost(text: str, wording: Iterable[re.Pattern[str]]) -> Iterator[str]:
    for pattern in wording:
        for match in pattern.finditer(text):
            groups = match.groupdict()
            yield from tasks_in(groups["tasks"]) if groups.get("tasks") else ()
            if groups.get("role"):
                yield task_of(match)


def _called(text: str, wording: Iterable[re.Pattern[str]]) -> Iterator[str]:
    """Yield the target that a status names last: its own call; earlier ones come from nested statuses."""
    for pattern in wording:
        yield from [task_of(match) for match in pattern.finditer(text)][-1:]


def _awaited(facts: Sequence[Statement]) -> set[str]:
    if any(fact.key in OF_THE_LEADER for fact in facts):
        return set()
    return {fact.value for fact in facts if fact.key == "awaits"}
