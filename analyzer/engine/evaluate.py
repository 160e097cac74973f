"""Evaluates rules on tables; the result is one finding per rule."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from itertools import chain, islice
from typing import Any, NamedTuple

import polars as pl

from analyzer.engine.order import Order
from analyzer.engine.placeholder_texts import Values, fill, headline, is_known
from analyzer.engine.rule_types import Rule, RulePack, Signal
from analyzer.engine.select import Row, RowsByWorker, select
from analyzer.engine.truth import Truths, distinct, rows_of_scope, truths_of
from analyzer.model.findings import (
    LEVELS,
    Evidence,
    Finding,
    MissingSignal,
    Outcome,
    Role,
    Step,
    Verdict,
    level,
)
from analyzer.model.run import Tables
from analyzer.model.task_names import listed
from analyzer.tables.kinds_read import kinds_read

MAX_EVIDENCE = 4
"""Maximum number of pieces of evidence for one signal and worker."""
_CAP_EXPERIMENTAL = LEVELS["likely"]
_NOBODY = ""
"""Subject of rows without a worker; a rule that fires on these blames nobody."""
_OF_ALL = ("api.", "checkpoint.", "data.", "env.", "numeric.", "storage.", "user.")
"""Prefixes of causes that can affect all workers alike: code, data, storage, environment."""
_SAMPLED = frozenset({"event_file", "trace"})
"""Kinds of source whose unread part may contain the values that a rule needs."""
_MARKED = ("matches", "accusations")
"""Tables whose rows have the offsets `start` and `end` of the matched words."""


class Roster(NamedTuple):
    """The workers of the run and how they ended, for binding signals to workers."""

    everyone: tuple[str, ...]
    training: Mapping[str, None]
    """In order; a mapping, for it is asked for each worker."""
    leader: str
    """Empty if unknown."""
    lives: Mapping[str, Row]
    job: Callable[[], Row]
    """Returns the summary of the job; only a rule that fires asks for it."""
    mixed: bool = False
    """Whether a log mixes lines of several workers without naming them."""


def match(pack: RulePack, tables: Tables) -> list[Finding]:
    """Return one finding per rule, in the order of their ids."""
    roster, rows, order = _roster(tables), select(pack, tables), Order(tables)
    sources = tables["sources"]
    readable = kinds_read(tables)
    partly = set(sources.filter(pl.col("read") != "complete")["kind"].to_list()) & _SAMPLED
    found = []
    for rule in pack.rules:
        try:
            finding = evaluate(rule, rows[rule.id], readable, roster, order)
        except Exception as error:  # noqa: BLE001 - a fault of ours in one rule must not cost the diagnosis
            finding = _finding(rule, Outcome.ERROR, reason=f"{type(error).__name__}: {error}")
        found.append(_with_doubt(rule, finding, partly))
    return found


def _with_doubt(rule: Rule, finding: Finding, partly: AbstractSet[str]) -> Finding:
    """Return the finding; if it did not fire, its reason tells a required source that was read in part."""
    lost = [kind.replace("_", " ") for kind in rule.requires if kind in partly]
    if not lost or finding.outcome is not Outcome.QUIET:
        return finding
    return finding._replace(reason=f"{finding.reason}; part of a {lost[0]} could not be read")


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
        return _finding(rule, Outcome.NOT_APPLICABLE, reason=reason, lacks=lacking[0])
    none = dict.fromkeys(rule.signals, False)
    if not any(rows.values()) and not rule.holds(none):  # the usual case
        return _finding(rule, Outcome.QUIET, reason=_why_quiet(rule, [(_NOBODY, none)]))
    subjects = (*roster.everyone, *([_NOBODY] if roster.mixed else [])) if rule.binds else (_NOBODY,)
    ordered = any(signal.after or signal.before for signal in rule.signals.values())
    seen = {
        subject: _in_order(rule, rows, subject, roster, order) if ordered else rows for subject in subjects
    }
    truths = truths_of(rule.signals, seen, roster.training, roster.leader)
    different = distinct(truths)
    holds = {id(truth): rule.holds(truth) for _, truth in different}
    holding = [subject for subject in subjects if holds[id(truths[subject])]]
    fired = [subject for subject in holding if subject] or holding
    if not fired:
        return _finding(
            rule, Outcome.QUIET, reason=_why_quiet(rule, different), near=_missing_signal(rule, different)
        )
    return _Firing(rule, fired, truths, seen, roster).finding()


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


def _roster(tables: Tables) -> Roster:
    workers = tables["workers"]
    leader = workers.filter("leader")["worker"].to_list()
    return Roster(
        everyone=tuple(workers["worker"].to_list()),
        training=dict.fromkeys(workers.filter("trains")["worker"].to_list()),
        leader=leader[0] if leader else "",
        lives={row["worker"]: row for row in tables["lifetimes"].iter_rows(named=True)},
        job=lambda: tables["job"].row(0, named=True),
        mixed="several_workers" in tables["facts"]["key"],
    )


class _Firing(NamedTuple):
    """A rule that holds for some subjects; by subject, the truth of its signals and the rows they saw."""

    rule: Rule
    subjects: Sequence[str]
    truths: Mapping[str, Mapping[str, bool]]
    seen: Mapping[str, Mapping[str, RowsByWorker]]
    roster: Roster

    def finding(self) -> Finding:
        """Return the finding, with its texts filled in."""
        rule, values = self.rule, self._values()
        workers = tuple(subject for subject in self.subjects if subject)
        culprits, suspects = _blamed(rule, workers, self.roster)
        surest = max((self.truths[subject] for subject in self.subjects), key=partial(_confidence, rule))
        return _finding(
            rule,
            Outcome.FIRED,
            confidence=_confidence(rule, surest),
            confidence_trace=_confidence_trace(rule, surest),
            culprits=culprits,
            suspects=suspects,
            about=workers,
            summary=headline(rule.summary, values),
            why=tuple(fill(text, values) for text in rule.why if is_known(text, values)),
            collect=tuple(fill(text, values) for text in rule.collect if is_known(text, values)),
            next=tuple(_step(step, values) for step in rule.next if is_known(step.text, values)),
            evidence=tuple(dict.fromkeys(self._evidence(values))),
        )

    def _values(self) -> dict[str, Mapping[str, object] | str]:
        """Return placeholder → value; signals and lives are those of the first subject.

        An `accuser` is all workers that accuse a subject.
        """
        rule, roster, first, bound = self.rule, self.roster, self.subjects[0], set(self.subjects)
        others = [worker for worker in roster.training if worker not in bound]
        accusers = {name: self._accusers(signal) for name, signal in rule.signals.items()}
        values: dict[str, Mapping[str, object] | str] = {
            "subject": listed([subject for subject in self.subjects if subject])
            or ("one of the workers" if rule.binds else ""),
            "everywhere": self._everywhere(),
            "subjects": {"count": len(self.subjects)},
            "others": listed(others),
            "victims": listed(
                [each for each in others if self._failed(each, set().union(*accusers.values()))]
            ),
            "life": roster.lives.get(first, {}),
            "job": roster.job(),
        }
        for name, signal in rule.signals.items():
            own = list(self._rows(signal, first)) if self.truths[first][name] else []
            named = {"accuser": listed(accusers[name])} if accusers[name] else {}
            values[name] = {**(own[0] if own else {}), "count": len(own), **named}
        return values

    def _everywhere(self) -> str:
        """Return the subjects listed, or `every worker` where they are all workers of a job of several."""
        everyone = self.roster.everyone
        if len(everyone) > 1 and set(everyone) <= set(self.subjects):
            return "every worker" if set(everyone) <= set(self.roster.training) else "every task"
        return listed([subject for subject in self.subjects if subject])

    def _accusers(self, signal: Signal) -> list[str]:
        """Return the workers whose rows of a signal accuse a subject, in order."""
        if signal.table != "accusations":
            return []
        rows = chain.from_iterable(
            self._rows(signal, each) for each in self.subjects if self.truths[each][signal.name]
        )
        found = {row["accuser"] for row in rows}
        return [worker for worker in self.roster.everyone if worker in found]

    def _failed(self, worker: str, accusers: Collection[str]) -> bool:
        """Return True if a worker failed because it lost a subject."""
        ended = self.roster.lives[worker]["ended"]
        return ended == "aborted_by_peer" or (worker in accusers and ended != "finished")

    def _rows(self, signal: Signal, subject: str) -> Iterable[Row]:
        return rows_of_scope(signal, self.seen[subject][signal.name], subject, self.roster.leader)

    def _evidence(self, values: Values) -> Iterator[Evidence]:
        for subject in self.subjects:
            truth, life = self.truths[subject], self.roster.lives.get(subject, {})
            idle = self.rule.when.wanted - self.rule.when.supporting(truth)
            about = {"subject": subject or values["subject"], "subjects": {"count": 1}, "life": life}
            for name, signal in self.rule.signals.items():
                if truth[name] and name not in idle and (signal.says or name in self.rule.when.names):
                    for row in islice(self._rows(signal, subject), MAX_EVIDENCE):
                        place = _place(signal, row, fill(signal.says, {**values, **about, name: row}))
                        yield place._replace(signals=(name,))


def _step(step: Step, values: Values) -> Step:
    """Return the step with its placeholders filled in; omits a command that has unknown values."""
    command = step.command if step.command and is_known(step.command, values) else None
    return Step(fill(step.text, values), command and fill(command, values))


def _blamed(rule: Rule, workers: tuple[str, ...], roster: Roster) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return (culprits, suspects); with `blame: subject`, none if the rule holds for all training workers.

    Only workers whose files show how they ended are compared. If there is only one, and the cause may have
    affected the others too, it is a suspect.
    """
    seen = {worker for worker in roster.training if _shows_its_end(roster.lives.get(worker, {}))}
    alike = len(seen) > 1 and seen <= set(workers)
    alone = (
        seen == set(workers)
        and (rule.cause or "").startswith(_OF_ALL)
        and _absent_may_share(rule, roster, seen)
    )
    if rule.blame == "suspects" or (rule.blame == "subject" and alone and not alike):
        return (), workers
    return (workers, ()) if rule.blame == "subject" and not alike else ((), ())


def _shows_its_end(life: Row) -> bool:
    """Return False if a worker left no file, or exited with an error code but logged no exception."""
    silent = life.get("ended") == "exited" and life.get("no_exception") and (life.get("exit_code") or 0) > 0
    return bool(life.get("seen", True)) and not silent


def _absent_may_share(rule: Rule, roster: Roster, seen: set[str]) -> bool:
    """Return True if a worker without files may have failed in the same way, by its exit code."""
    codes = [
        roster.lives.get(worker, {}).get("exit_code") for worker in roster.training if worker not in seen
    ]
    least = 0 if rule.verdict is Verdict.DEGRADED else 1
    return any(code is None or code >= least for code in codes)


def _confidence(rule: Rule, truth: Mapping[str, bool]) -> float:
    known = rule.confidence
    value = max([LEVELS[known.base], *(LEVELS[to] for name, to in known.raised.items() if truth[name])])
    caps = [LEVELS[cap] for name, cap in known.cap_without.items() if not truth[name]]
    return min([value, *caps, *([_CAP_EXPERIMENTAL] if rule.status == "experimental" else [])])


def _confidence_trace(rule: Rule, truth: Mapping[str, bool]) -> tuple[str, ...]:
    """Return how the confidence was computed, e.g. `base likely 0.78`, `“…” raises it to strong 0.90`."""
    known = rule.confidence
    raised = [
        f"“{_plain(name)}” raises it to {level(to)}" for name, to in known.raised.items() if truth[name]
    ]
    capped = [
        f"at most {level(cap)} without “{_plain(name)}”"
        for name, cap in known.cap_without.items()
        if not truth[name]
    ]
    if rule.status == "experimental":
        capped.append(f"at most {_CAP_EXPERIMENTAL:.2f} for an experimental rule")
    return (f"base {level(known.base)}", *raised, *capped)


def _plain(name: str) -> str:
    return name.replace("_", " ")


def _missing_signal(rule: Rule, truths: Truths) -> MissingSignal | None:
    """Return the signal missing for the worker with most signals; None if no worker lacks just one.

    Of several each of which would do, it is the one that the rule states first.
    """
    found = []
    for subject, truth in truths:
        held = tuple(name for name in sorted(rule.when.wanted) if truth[name])
        if len(held) > 1 and (missed := rule.when.missed(truth)):
            lacking = next(signal for name, signal in rule.signals.items() if name in missed)
            found.append(MissingSignal(subject, held, lacking.name, lacking.table, tuple(lacking.where)))
    return max(found, key=lambda near: len(near.held), default=None)


def _place(signal: Signal, row: Row, says: str) -> Evidence:
    absent = signal.kind == "absence" and signal.table == "lifetimes"  # whose line is that of an exit code
    source, line = (None, None) if absent else (row.get("source"), row.get("line"))
    words = next(
        (str(row[key]) for key in ("excerpt", "says", "message", "value") if row.get(key) is not None), ""
    )
    kind = signal.kind if signal.kind != "line" or (source and line) else "fact"
    marks = ((int(row["start"]), int(row["end"])),) if signal.table in _MARKED and row["end"] else ()
    worker = row.get("accuser") or row.get("worker")
    return Evidence(says, kind, worker, source, line, words[:2_000] if source else "", marks, row.get("time"))


def _why_quiet(rule: Rule, truths: Truths) -> str:
    each = [truth for _, truth in truths]
    asked = [truth for truth in each if rule.when.holds(truth)]
    if refuting := [name for name in rule.refuted_by if any(truth[name] for truth in asked)]:
        return f"refuted by: {', '.join(refuting)}"
    missing = [name for name in sorted(rule.when.wanted) if not any(truth[name] for truth in each)]
    if missing:
        return f"signals not found: {', '.join(missing[:3])}"
    return "its signals do not fit together"


def _finding(rule: Rule, outcome: Outcome, **parts: Any) -> Finding:  # noqa: ANN401 - fields of Finding
    return Finding(
        rule=rule.id,
        title=rule.title,
        role=rule.role,
        outcome=outcome,
        cause=rule.cause if rule.role is Role.CAUSE else None,
        verdict=rule.verdict,
        explains=rule.explains,
        contradicts=rule.contradicts,
        despite_finish=rule.despite_finish,
        references=rule.references,
        action=rule.action,
        **parts,
    )
