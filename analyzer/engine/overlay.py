"""`overlay.yaml`: rules switched off or tuned in one place, without editing the pack.

switch_off: [rule-id, ...]
status: {rule-id: experimental}
verdict: {rule-id: degraded}
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from analyzer.engine.document import Document, Path
from analyzer.engine.language import STATUSES, VERDICTS, Rule
from analyzer.model import Verdict

NAME = "overlay.yaml"
TUNES: Mapping[str, Sequence[str]] = MappingProxyType({"status": STATUSES, "verdict": VERDICTS})
"""What can be tuned → the values that it may take."""


def faults(overlay: Document, known: Collection[object]) -> list[str]:
    """What is wrong with an overlay, given the ids of all rules; each with file and line."""
    for path, what in _faults(overlay.data, known):
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
    return list(tuned.values())


def _faults(data: Mapping[str, object], known: Collection[object]) -> Iterator[tuple[Path, str]]:
    for key, value in data.items():
        if key == "switch_off":
            yield from _listed(value, known)
        elif key in TUNES:
            yield from _mapped(key, value, known)
        else:
            yield (key,), f"`{key}` is not known here; there are switch_off, {', '.join(TUNES)}"


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
