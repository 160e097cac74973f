"""`overlay.yaml`: rules switched off or tuned in one place, without editing the pack.

switch_off: [rule-id, ...]
status: {rule-id: experimental}
verdict: {rule-id: degraded}
except: {rule-id: {signal: {column: condition}}}   rows that do not count
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from analyzer.engine.conditions import fault
from analyzer.engine.document import Document, Path
from analyzer.engine.language import STATUSES, VERDICTS, Condition, Rule
from analyzer.model.findings import Verdict
from analyzer.model.schema import TABLES

NAME = "overlay.yaml"
_EXCEPT = "except"
TUNES: Mapping[str, Sequence[str]] = MappingProxyType({"status": STATUSES, "verdict": VERDICTS})
"""What can be tuned → the values that it may take."""


def faults(overlay: Document, known: Collection[object], rules: Iterable[Rule]) -> list[str]:
    """What is wrong with an overlay, given the ids of all rules, and the rules that are right themselves."""
    for path, what in _faults(overlay.data, known, {rule.id: rule for rule in rules}):
        overlay.fault(path, what)
    return overlay.faults


def laid_over(rules: Iterable[Rule], overlays: Iterable[Document]) -> list[Rule]:
    """The rules that are left on, tuned; of two overlays the later one counts."""
    tuned = {rule.id: rule for rule in rules}
    for overlay in overlays:
        for each in overlay.data.get("switch_off", ()):
            tuned.pop(each, None)
        for each in tuned.keys() & overlay.data.get("status", {}).keys():
            tuned[each] = tuned[each]._replace(status=overlay.data["status"][each])
        for each in tuned.keys() & overlay.data.get("verdict", {}).keys():
            tuned[each] = tuned[each]._replace(verdict=Verdict(overlay.data["verdict"][each]))
        for each in tuned.keys() & overlay.data.get(_EXCEPT, {}).keys():
            tuned[each] = _excepting(tuned[each], overlay.data[_EXCEPT][each])
    return list(tuned.values())


def _excepting(rule: Rule, rows: Mapping[str, Condition]) -> Rule:
    signals = {
        name: signal._replace(unless=(*signal.unless, rows[name])) if name in rows else signal
        for name, signal in rule.signals.items()
    }
    return rule._replace(signals=signals)


def _faults(
    data: Mapping[str, object], known: Collection[object], rules: Mapping[str, Rule]
) -> Iterator[tuple[Path, str]]:
    for key, value in data.items():
        if key == "switch_off":
            yield from _listed(value, known)
        elif key in TUNES:
            yield from _mapped(key, value, known)
        elif key == _EXCEPT:
            yield from _excepted(value, known, rules)
        else:
            yield (key,), f"`{key}` is not known here; there are switch_off, {', '.join(TUNES)}, {_EXCEPT}"


def _listed(value: object, known: Collection[object]) -> Iterator[tuple[Path, str]]:
    if not isinstance(value, list):
        yield ("switch_off",), "`switch_off` lists ids of rules"
        return
    for index, each in enumerate(value):
        if not isinstance(each, str) or each not in known:
            yield ("switch_off", index), f"`{each}` is the id of no rule"


def _mapped(key: str, value: object, known: Collection[object]) -> Iterator[tuple[Path, str]]:
    if not isinstance(value, dict):
        yield (key,), f"`{key}` gives ids of rules their {key}"
        return
    for each, wanted in value.items():
        if each not in known:
            yield (key, each), f"`{each}` is the id of no rule"
        if wanted not in TUNES[key]:
            yield (key, each), f"`{wanted}` is none of {', '.join(TUNES[key])}"


def _excepted(
    value: object, known: Collection[object], rules: Mapping[str, Rule]
) -> Iterator[tuple[Path, str]]:
    """Faults of `except`: each rule's own signals, each with conditions on the columns of its table."""
    for each, signals in _pairs(value):
        if each not in known:
            yield (_EXCEPT, each), f"`{each}` is the id of no rule"
            continue
        for name, where in _pairs(signals):
            signal = rules[each].signals.get(name) if each in rules else None
            if each in rules and signal is None:
                yield (_EXCEPT, each, name), f"`{name}` is no signal of {each}"
            elif not isinstance(where, dict) or not where:
                yield (_EXCEPT, each, name), f"`{name}` names columns and what they hold"
            elif signal:
                yield from _conditions((_EXCEPT, each, name), signal.table, where)
        if not isinstance(signals, dict):
            yield (_EXCEPT, each), f"`{each}` names its signals and the rows that do not count"
    if not isinstance(value, dict):
        yield (_EXCEPT,), "`except` gives ids of rules their exceptions"


def _pairs(value: object) -> list[tuple[str, object]]:
    return list(value.items()) if isinstance(value, dict) else []


def _conditions(path: Path, table: str, where: Mapping[str, object]) -> Iterator[tuple[Path, str]]:
    columns = {column.name: column for column in TABLES[table]}
    for name, condition in where.items():
        if found := fault(columns.get(name), condition):
            yield (*path, name), f"`{name}` of {table} {found}"
