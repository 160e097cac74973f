"""Applies `overlay.yaml`, which disables or changes rules without editing their files.

switch_off: [rule-id, ...]
status: {rule-id: experimental}
verdict: {rule-id: degraded}
except: {rule-id: {signal: {column: condition}}}   rows that do not count
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from analyzer.engine.loading.schemas import file_schema, table_schema
from analyzer.engine.rule_types import Condition, Rule
from analyzer.model.findings import Verdict
from analyzer.storage.yaml_document import Document

NAME = "overlay.yaml"


def check(overlay: Document, ids: Collection[str], rules: Mapping[str, Rule]) -> None:
    """Add the faults of an overlay to its document.

    `ids` has the ids of all rules, also of faulty ones; `rules` maps ids to the valid rules.
    """
    if not overlay.check(file_schema("overlay")):
        return
    for index, each in enumerate(overlay.data.get("switch_off", ())):
        overlay.known(("switch_off", index), each, ids, "id of a rule")
    for key in ("status", "verdict", "except"):
        for each in overlay.data.get(key, {}):
            overlay.known((key, each), each, ids, "id of a rule")
    for each, signals in overlay.data.get("except", {}).items():
        for name in signals if each in rules else ():
            path = ("except", each, name)
            if overlay.known(path, name, rules[each].signals, f"signal of {each}"):
                overlay.check(table_schema(rules[each].signals[name].table), path)


def with_overlays(rules: Iterable[Rule], overlays: Iterable[Document]) -> list[Rule]:
    """Return the enabled rules with the overlays' changes; later overlays override earlier ones."""
    tuned = {rule.id: rule for rule in rules}
    for overlay in overlays:
        for each in overlay.data.get("switch_off", ()):
            tuned.pop(each, None)
        for each in tuned:
            tuned[each] = _tuned(tuned[each], overlay.data)
    return list(tuned.values())


def _tuned(rule: Rule, data: Mapping[str, Any]) -> Rule:
    status = data.get("status", {}).get(rule.id, rule.status)
    verdict = Verdict(data.get("verdict", {}).get(rule.id, rule.verdict))
    excepted: Mapping[str, Condition] = data.get("except", {}).get(rule.id, {})
    signals = {
        name: signal._replace(unless=(*signal.unless, excepted[name])) if name in excepted else signal
        for name, signal in rule.signals.items()
    }
    return rule._replace(status=status, verdict=verdict, signals=signals)
