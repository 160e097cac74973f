"""Evaluates rules on tables; the result is one finding per rule."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

import polars as pl

from analyzer.engine.firing import Firing, finding_of
from analyzer.engine.order import Order
from analyzer.engine.roster import Roster, roster_of
from analyzer.engine.rule_types import Rule, RulePack
from analyzer.engine.select import RowsByWorker, select
from analyzer.engine.truth import Alike, rows_of_scope, truths_of
from analyzer.model.findings import Finding, MissingSignal, Outcome
from analyzer.model.run import Tables
from analyzer.tables.grouping import grouped
from analyzer.tables.kinds_read import kinds_read

_NOBODY = ""
"""Subject of rows without a worker; a rule that fires on these blames nobody."""
_SAMPLED = frozenset({"event_file", "trace"})
"""Kinds of source whose unread part may contain the values that a rule needs."""


def match(pack: RulePack, tables: Tables) -> list[Finding]:
    """Return one finding per rule, in the order of their ids."""
    roster, rows, order = roster_of(tables), select(pack, tables), Order(tables)
    sources = tables["sources"]
    readable = kinds_read(tables)
    partly = set(sources.filter(pl.col("read") != "complete")["kind"].to_list()) & _SAMPLED
    found = []
    for rule in pack.rules:
        try:
            finding = evaluate(rule, rows[rule.id], readable, roster, order)
        except Exception as error:  # noqa: BLE001 - a fault of ours in one rule must not cost the diagnosis
            finding = finding_of(rule, Outcome.ERROR, reason=f"{type(error).__name__}: {error}")
        found.append(_with_doubt(rule, finding, partly))
    return found


def _with_doubt(rule: Rule, finding: Finding, partly: AbstractSet[str]) -> Finding:
    """Return the finding; if it did not fire, its reason names a required source that was read in part."""
    lost = next((kind.replace("_", " ") for kind in rule.requires if kind in partly), None)
    if finding.outcome is Outcome.QUIET and lost:
        return finding._replace(reason=f"{finding.reason}; part of a {lost} could not be read")
    return finding


def evaluate(
    rule: Rule,
    rows: Mapping[str, RowsByWorker],
    readable: AbstractSet[str],
    roster: Roster,
    order: Order,
) -> Finding:
    """Return the finding of one rule; `rows` satisfy its signals, `readable` are the kinds of source read."""
    if lacking := [kind for kind in rule.requires if kind not in readable]:
        reason = f"no readable {lacking[0].replace('_', ' ')}"
        return finding_of(rule, Outcome.NOT_APPLICABLE, reason=reason, lacks=lacking[0])
    none = dict.fromkeys(rule.signals, False)
    if not any(rows.values()) and not rule.holds(none):  # the usual case
        return finding_of(rule, Outcome.QUIET, reason=_why_quiet(rule, [Alike([_NOBODY], none)]))
    subjects = (*roster.everyone, *([_NOBODY] if roster.mixed else [])) if rule.binds else (_NOBODY,)
    cases = _cases(rule, rows, subjects, roster, order)
    truths = truths_of(rule.signals, cases, roster.training, roster.leader)
    holding = {subject for alike in truths if rule.holds(alike.truth) for subject in alike.subjects}
    if not holding:
        near = _missing_signal(rule, truths)
        return finding_of(rule, Outcome.QUIET, reason=_why_quiet(rule, truths), near=near)
    fired = [subject for subject in subjects if subject and subject in holding] or [_NOBODY]
    seen = {subject: rows for rows, own in cases for subject in own}
    truth_of = {subject: alike.truth for alike in truths for subject in alike.subjects}
    return Firing(rule, fired, truth_of, seen, roster).finding()


def _cases(
    rule: Rule, rows: Mapping[str, RowsByWorker], subjects: Sequence[str], roster: Roster, order: Order
) -> list[tuple[Mapping[str, RowsByWorker], Sequence[str]]]:
    """Return (signal → worker → its rows, subjects that see those), without rows in a wrong order.

    `after` and `before` can only remove rows of a subject that has some, unless a signal is about others.
    """
    ordered = [signal for signal in rule.signals.values() if signal.after or signal.before]
    about_others = any(signal.of != "subject" and rows[signal.name] for signal in ordered)
    having = {*subjects} if about_others else set().union(*(rows[signal.name] for signal in ordered))
    if not having:
        return [(rows, subjects)]
    apart = grouped((subject if subject in having else None, subject) for subject in subjects)
    return [
        (rows if one is None else _in_order(rule, rows, one, roster, order), own)
        for one, own in apart.items()
    ]


def _in_order(
    rule: Rule, rows: Mapping[str, RowsByWorker], subject: str, roster: Roster, order: Order
) -> Mapping[str, RowsByWorker]:
    """Return signal → worker → its rows, without those that violate the signal's `after` or `before`."""
    kept = dict(rows)
    for name, signal in rule.signals.items():
        if other := signal.after or signal.before:
            theirs = list(rows_of_scope(rule.signals[other], kept[other], subject, roster.leader))
            looked_at = [subject] if signal.of == "subject" else rows[name]
            kept[name] = {who: order.kept(signal, rows[name].get(who, ()), theirs) for who in looked_at}
    return kept


_COURSE = frozenset({"job", "workers", "lifetimes", "silences", "barriers", "cluster", "facts"})
"""Tables that every run fills, with who took part and how far each came."""


def _missing_signal(rule: Rule, truths: Sequence[Alike]) -> MissingSignal | None:
    """Return the one signal that a rule lacks to fire for a worker; None if it lacks more for every worker.

    The worker is the one with most signals; of alternative signals, the rule's first is returned.
    """
    found = []
    for subjects, truth in truths:
        held = tuple(name for name in sorted(rule.when.wanted) if truth[name])
        if len(held) > 1 and (missed := rule.when.missed(truth)):
            lacking = next(signal for name, signal in rule.signals.items() if name in missed)
            telling = any(rule.signals[name].table not in _COURSE for name in held)
            where = tuple(lacking.where)
            found.append(MissingSignal(subjects[0], held, lacking.name, lacking.table, where, telling))
    return max(found, key=lambda near: len(near.held), default=None)


def _why_quiet(rule: Rule, truths: Sequence[Alike]) -> str:
    """Return in words why a rule did not fire."""
    each = [alike.truth for alike in truths]
    asked = [truth for truth in each if rule.when.holds(truth)]
    if refuting := [name for name in rule.refuted_by if any(truth[name] for truth in asked)]:
        return f"refuted by: {', '.join(refuting)}"
    missing = [name for name in sorted(rule.when.wanted) if not any(truth[name] for truth in each)]
    if missing:
        return f"signals not found: {', '.join(missing[:3])}"
    return "its signals were found, but not in the required combination"
