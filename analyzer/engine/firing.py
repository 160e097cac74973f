"""Builds the finding of a rule: its confidence, texts, evidence and whom it blames."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from analyzer.engine.placeholder_texts import Values, fill, headline, is_known, placeholders
from analyzer.engine.roster import Roster, blamed
from analyzer.engine.rule_types import Rule, Signal
from analyzer.engine.select import Row, RowsByWorker
from analyzer.engine.truth import rows_of_scope
from analyzer.model.findings import LEVELS, Action, Evidence, Finding, Outcome, Role, Step, level
from analyzer.model.task_names import listed
from analyzer.tables.grouping import grouped

MAX_EVIDENCE = 4
"""Maximum number of pieces of evidence for one signal and worker."""
MAX_QUOTED_SUBJECTS = 1_000
"""Maximum number of workers of one finding that have evidence of their own; `about` names them all."""
MAX_DIFFERENT = 3
"""Maximum number of different exceptions in the texts of one finding; its evidence has all of them."""
_ONE_OF_THEM = "one of the workers"
_CAP_EXPERIMENTAL = LEVELS["likely"]
_MARKED = ("matches", "accusations")
"""Tables whose rows have the offsets `start` and `end` of the matched words."""


class Firing(NamedTuple):
    """A rule that fires, the workers that it fires for, and the rows that made it fire.

    `truths` is subject → signal → whether it holds, `seen` subject → signal → worker → rows that satisfy it.
    """

    rule: Rule
    subjects: Sequence[str]
    truths: Mapping[str, Mapping[str, bool]]
    seen: Mapping[str, Mapping[str, RowsByWorker]]
    roster: Roster

    def finding(self) -> Finding:
        """Return the finding, with its texts filled in."""
        rule, values = self.rule, self.values()
        different = self._different()
        alike = [each.values() for each in different[:MAX_DIFFERENT]] or [values]
        workers = tuple(subject for subject in self.subjects if subject)
        culprits, suspects = blamed(rule, workers, self.roster)
        surest = max((self.truths[subject] for subject in self.subjects), key=partial(_confidence, rule))
        return finding_of(
            rule,
            Outcome.FIRED,
            confidence=_confidence(rule, surest),
            confidence_trace=_confidence_trace(rule, surest),
            culprits=culprits,
            suspects=suspects,
            about=workers,
            summary=self._summary(values, alike, len(different)),
            why=tuple(fill(text, values) for text in self._why(alike) if is_known(text, values)),
            collect=tuple(fill(text, values) for text in rule.collect if is_known(text, values)),
            next=tuple(dict.fromkeys(self._next(values, alike))),
            evidence=tuple(dict.fromkeys(self._evidence(values))),
        )._replace(action=self._action())

    def _different(self) -> list["Firing"]:
        """Return one firing for each different exception, by type and place; empty unless there are several.

        It is empty, too, if the rule holds for a subject without an exception.
        """
        raised = next((signal for signal in self.rule.signals.values() if _is_own_exception(signal)), None)
        if raised is None or len(self.subjects) == 1:
            return []
        rows = {subject: next(iter(self._rows(raised, subject)), None) for subject in self.subjects}
        alike = grouped(((row["type"], row["frame"]), subject) for subject, row in rows.items() if row)
        if len(alike) == 1 or not all(rows.values()):
            return []
        return [self._replace(subjects=own) for own in alike.values()]

    def _summary(self, values: Values, alike: Sequence[Values], count: int) -> str:
        """Return the rule's summary; if it quotes one of `count` different exceptions, one for each."""
        if len(alike) == 1 or not self._quotes_exception(self.rule.summary):
            return headline(self.rule.summary, values)
        each = [headline(self.rule.summary, own).rstrip(".") for own in alike]
        more = [f"and {count - len(each)} more"] if count > len(each) else []
        return "; ".join([*each, *more])

    def _why(self, alike: Sequence[Values]) -> Iterator[str]:
        """Yield the rule's reasons; if subjects raised different exceptions, without those that quote one."""
        return (text for text in self.rule.why if len(alike) == 1 or not self._quotes_exception(text))

    def _next(self, values: Values, alike: Sequence[Values]) -> Iterator[Step]:
        for step in self.rule.next:
            for each in alike if self._quotes_exception(step.text) else [values]:
                if is_known(step.text, each):
                    yield _step(step, each)

    def _quotes_exception(self, text: str) -> bool:
        """Return True if a text quotes the subject's exception by a placeholder."""
        names = (name for name, column in placeholders(text) if column)
        return any(name in self.rule.signals and _is_own_exception(self.rule.signals[name]) for name in names)

    def _action(self) -> Action:
        """Return the rule's action; without `unless`, if `ruled_out_by` holds for all subjects."""
        action = self.rule.action
        excluding = action.ruled_out_by
        is_excluded = excluding and all(self.truths[subject][excluding] for subject in self.subjects)
        return action._replace(unless="") if is_excluded else action

    def values(self) -> dict[str, Mapping[str, object] | str]:
        """Return placeholder → value; columns of signals and of `life` are those of the first subject.

        An `accuser` is the list of all workers that accuse a subject.
        """
        rule, roster, first, bound = self.rule, self.roster, self.subjects[0], set(self.subjects)
        is_unknown = rule.binds and bound == {""}
        others = [worker for worker in roster.training if worker not in bound and not is_unknown]
        accusers = {name: self._accusers(signal) for name, signal in rule.signals.items()}
        accusing = set().union(*accusers.values())
        named = listed([subject for subject in self.subjects if subject])
        values: dict[str, Mapping[str, object] | str] = {
            "subject": named or (_ONE_OF_THEM if rule.binds else ""),
            "everywhere": self._everywhere() or named,
            "subjects": {"count": len(self.subjects)},
            "others": listed(others),
            "unfinished": listed([each for each in others if not self._finished(each)]),
            "victims": listed([each for each in others if self._failed(each, accusing)]),
            "life": roster.life(first),
            "job": roster.job(),
        }
        for name, signal in rule.signals.items():
            own = list(self._rows(signal, first)) if self.truths[first][name] else []
            accuser = {"accuser": listed(accusers[name])} if accusers[name] else {}
            values[name] = {**(own[0] if own else {}), "count": len(own), **accuser}
        return values

    def _everywhere(self) -> str:
        """Return `every worker` or `every task` if the subjects are all of a job of several, else nothing."""
        everyone = {*self.roster.everyone}
        if len(everyone) < 2 or not everyone <= {*self.subjects}:
            return ""
        return "every worker" if everyone <= {*self.roster.training} else "every task"

    def _accusers(self, signal: Signal) -> list[str]:
        """Return the workers whose rows of a signal accuse a subject, in order."""
        if signal.table != "accusations":
            return []
        holding = [subject for subject in self.subjects if self.truths[subject][signal.name]]
        found = {row["accuser"] for subject in holding for row in self._rows(signal, subject)}
        return [worker for worker in self.roster.everyone if worker in found]

    def _finished(self, worker: str) -> bool:
        """Return True if a worker reached its planned end or exited with 0: it is nobody's victim."""
        ending = self.roster.endings[worker]
        return bool(ending["ended"] == "finished" or ending["exit_code"] == 0)

    def _failed(self, worker: str, accusers: Collection[str]) -> bool:
        """Return True if a worker failed because it lost a subject."""
        ended = self.roster.endings[worker]["ended"]
        return ended == "aborted_by_peer" or (worker in accusers and ended not in {"finished", "exception"})

    def _rows(self, signal: Signal, subject: str) -> Iterable[Row]:
        return rows_of_scope(signal, self.seen[subject][signal.name], subject, self.roster.leader)

    def _evidence(self, values: Values) -> Iterator[Evidence]:
        for subject in self.subjects[:MAX_QUOTED_SUBJECTS]:
            truth, life = self.truths[subject], self.roster.life(subject)
            idle = self.rule.when.wanted - self.rule.when.supporting(truth)
            about = {"subject": subject or values["subject"], "subjects": {"count": 1}, "life": life}
            for name, signal in self.rule.signals.items():
                if truth[name] and name not in idle and (signal.says or name in self.rule.when.names):
                    for row in islice(self._rows(signal, subject), MAX_EVIDENCE):
                        says = fill(signal.says, {**values, **about, name: _with_speakers(row)})
                        place = _evidence_of(signal, row, says)
                        yield place._replace(signals=(name,))


def _is_own_exception(signal: Signal) -> bool:
    return signal.table == "exceptions" and signal.of == "subject"


def _with_speakers(row: Row) -> Row:
    """Return a row; an accuser that is not known, as in a log of several workers, is one of them.

    Of a log that belongs to no known worker, its name stands for the worker.
    """
    named = {"accuser": _ONE_OF_THEM} if row.get("accuser", "") is None else {}
    if row.get("worker", "") is None and row.get("source"):
        named["worker"] = row["source"]
    return {**row, **named} if named else row


def _step(step: Step, values: Values) -> Step:
    """Return the step with its placeholders filled in, without its command if a value is unknown."""
    command = step.command if step.command and is_known(step.command, values) else None
    return Step(fill(step.text, values), command and fill(command, values))


def _evidence_of(signal: Signal, row: Row, says: str) -> Evidence:
    absent = signal.kind == "absence" and signal.table == "lifetimes"  # whose line is that of an exit code
    message_line = row.get("message_line")
    source, line = (None, None) if absent else (row.get("source"), message_line or row.get("line"))
    quoted = (row.get(key) for key in ("excerpt", "says", "message", "value"))
    words = "" if message_line else next((str(text) for text in quoted if text is not None), "")
    kind = signal.kind if signal.kind != "line" or (source and line) else "fact"
    marks = ((int(row["start"]), int(row["end"])),) if signal.table in _MARKED and row["end"] else ()
    worker = row.get("accuser") or row.get("worker")
    return Evidence(says, kind, worker, source, line, words[:2_000] if source else "", marks, row.get("time"))


def _confidence(rule: Rule, truth: Mapping[str, bool]) -> float:
    known = rule.confidence
    value = max([LEVELS[known.base], *(LEVELS[to] for name, to in known.raised.items() if truth[name])])
    caps = [LEVELS[cap] for name, cap in known.cap_without.items() if not truth[name]]
    return min([value, *caps, *([_CAP_EXPERIMENTAL] if rule.status == "experimental" else [])])


def _confidence_trace(rule: Rule, truth: Mapping[str, bool]) -> tuple[str, ...]:
    """Return how the confidence was computed, e.g. `base likely (78 %)`, `“…” raises it to strong (90 %)`."""
    known, plain = rule.confidence, {name: f"“{name.replace('_', ' ')}”" for name in truth}
    trace = [f"base {level(known.base)}"]
    trace += [f"{plain[name]} raises it to {level(to)}" for name, to in known.raised.items() if truth[name]]
    lacking = {name: level(cap) for name, cap in known.cap_without.items() if not truth[name]}
    trace += [f"at most {cap} without {plain[name]}" for name, cap in lacking.items()]
    if rule.status == "experimental":
        trace.append(f"at most {level('likely')}, as its rule is experimental: seen on few runs so far")
    return tuple(trace)


def finding_of(rule: Rule, outcome: Outcome, **parts: Any) -> Finding:  # noqa: ANN401 - fields of Finding
    """Return a finding with the fixed properties of its rule; `parts` are its other fields."""
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
