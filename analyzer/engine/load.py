"""Rule files → a rule pack. Every fault of every file is reported at once, with file and line."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from analyzer.engine import expressions, load_messages, overlay, pack_metadata
from analyzer.engine.document import Document, read
from analyzer.engine.document import Path as Place
from analyzer.engine.language import (
    BLAMES,
    OWNERS,
    RETRIES,
    STATUSES,
    VERDICTS,
    WORKER,
    Case,
    Confidence,
    Rule,
    RulePack,
    Signal,
)
from analyzer.engine.load_signals import signals
from analyzer.engine.rule_schema import keys, needed
from analyzer.engine.rule_validation import check
from analyzer.model.errors import RuleError
from analyzer.model.findings import Action, Role, Step, Verdict
from analyzer.model.source_kinds import Kind

_RULE, _ACTION, _CONFIDENCE = keys("rule"), keys("action"), keys("confidence")
_STEP, _CASE, _EXPECT = keys("step"), keys("case"), keys("expect")
_RULE_NEEDS, _CASE_NEEDS = needed("rule"), needed("case")
_OTHERS = ("causes.yaml", overlay.NAME, pack_metadata.NAME)
"""Files of a rules directory that hold no rule."""


def load(directories: Sequence[Path]) -> RulePack:
    """All rules below some directories, checked.

    Raises:
        RuleError: at least one file is wrong; the text lists every fault as `file:line: what`.

    """
    every = sorted({file for directory in directories for file in directory.rglob("*.yaml")})
    described_by = [file for file in every if file.parent.name == load_messages.FOLDER]
    files = [file for file in every if file not in described_by]
    causes, faults = _causes(files)
    worded = [read(file, _name(file, directories)) for file in described_by]
    messages = load_messages.messages(worded)
    faults += [fault for document in worded for fault in document.faults]
    documents = [read(file, _name(file, directories)) for file in files if file.name not in _OTHERS]
    known = {str(document.data.get("id")) for document in documents}
    rules = [rule for document in documents if (rule := _rule(document, causes, known))]
    faults += [fault for document in documents for fault in document.faults]
    faults += _duplicates(rules)
    overlays = [read(file, _name(file, directories)) for file in files if file.name == overlay.NAME]
    faults += [fault for each in overlays for fault in overlay.faults(each, known, rules)]
    described = {
        directory: read(directory / pack_metadata.NAME, f"{directory.name}/{pack_metadata.NAME}")
        for directory in directories
        if (directory / pack_metadata.NAME).is_file()
    }
    faults += [fault for each in described.values() for fault in pack_metadata.faults(each)]
    if faults:
        raise RuleError("\n".join(faults))
    tuned = overlay.laid_over(sorted(rules, key=lambda rule: rule.id), overlays)
    return RulePack(
        tuple(tuned),
        causes,
        _digest(every),
        ", ".join(each.file for each in overlays),
        tuple(
            pack_metadata.pack(directory, described.get(directory), _digest(_below(directory, every)))
            for directory in directories
        ),
        messages,
    )


def _below(directory: Path, files: Iterable[Path]) -> list[Path]:
    return [file for file in files if directory in file.parents]


def _causes(files: Iterable[Path]) -> tuple[dict[str, str], list[str]]:
    causes: dict[str, str] = {}
    faults: list[str] = []
    for file in files:
        if file.name == "causes.yaml":
            document = read(file, file.name)
            causes |= {
                key: str(value.get("means", ""))
                for key, value in document.data.items()
                if isinstance(value, dict)
            }
            faults += document.faults
    return causes, faults


def _name(file: Path, directories: Sequence[Path]) -> str:
    base = next(directory for directory in directories if directory in file.parents)
    return f"{base.name}/{file.relative_to(base).as_posix()}"


def _digest(files: Iterable[Path]) -> str:
    whole = hashlib.sha256()
    for file in files:
        whole.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return whole.hexdigest()[:16]


def _duplicates(rules: Iterable[Rule]) -> list[str]:
    first: dict[str, Rule] = {}
    return [
        f"{rule.file}:1: the id `{rule.id}` is that of {first[rule.id].file} too"
        for rule in rules
        if first.setdefault(rule.id, rule) is not rule
    ]


def _rule(document: Document, causes: Mapping[str, str], rules: Collection[str]) -> Rule | None:
    """The rule that a document spells, or None after its faults were noted."""
    data = document.data
    if not data:
        return None
    document.only((), data, _RULE)
    if not document.has((), data, _RULE_NEEDS):
        return None
    found = signals(document)
    rule = Rule(
        id=str(data["id"]),
        file=document.file,
        title=str(data["title"]),
        role=Role(document.one_of(("role",), data["role"], [role.value for role in Role])),
        signals=found,
        when=_when(document, found),
        summary=str(data["summary"]),
        confidence=_confidence(document, found),
        cause=None if data.get("cause") is None else str(data["cause"]),
        verdict=Verdict(document.one_of(("verdict",), data.get("verdict", "failed"), VERDICTS)),
        status=document.one_of(("status",), data.get("status", "experimental"), STATUSES),
        requires=tuple(_requires(document)),
        blame=document.one_of(("blame",), data.get("blame", "none"), BLAMES),
        explains=document.strings("explains"),
        contradicts=document.strings("contradicts"),
        despite_finish=_despite_finish(document),
        why=document.strings("why"),
        next=_steps(document),
        collect=document.strings("collect"),
        action=_action(document),
        references=document.strings("references"),
        cases=_cases(document),
    )
    check(document, rule, causes, rules)
    return rule


def _when(document: Document, known: Mapping[str, Signal]) -> expressions.Expression:
    try:
        expression = expressions.parse(str(document.data["when"]))
    except ValueError as error:
        document.fault(("when",), str(error))
        return expressions.Expression("and")
    for name in sorted(expression.names - known.keys()):
        document.fault(("when",), f"`{name}` is no signal of this rule")
    return expression


def _despite_finish(document: Document) -> bool:
    value = document.data.get("despite_finish", False)
    if not isinstance(value, bool):
        document.fault(("despite_finish",), "`despite_finish` is true or false")
    return value is True


def _confidence(document: Document, known: Mapping[str, Signal]) -> Confidence:
    data = document.map_at(("confidence",), document.data.get("confidence"))
    document.only(("confidence",), data, _CONFIDENCE)
    by_signal = {}
    for key in ("add", "cap_without"):
        given = document.map_at(("confidence", key), data.get(key))
        for name in sorted(given.keys() - known.keys()):
            document.fault(("confidence", key, name), f"`{name}` is no signal of this rule")
        by_signal[key] = {name: document.share(("confidence", key, name), given[name]) for name in given}
    return Confidence(document.share(("confidence", "base"), data.get("base", 0.5)), **by_signal)


def _requires(document: Document) -> list[str]:
    kinds = [kind.value for kind in Kind]
    return [document.one_of(("requires",), each, kinds) for each in document.strings("requires")]


def _steps(document: Document) -> tuple[Step, ...]:
    made = []
    for index, step in enumerate(document.list_at(("next",), document.data.get("next"))):
        if isinstance(step, str):
            made.append(Step(step))
        elif document.is_map(("next", index), step) and document.only(("next", index), step, _STEP):
            command = step.get("command")
            made.append(Step(str(step.get("text", "")), None if command is None else str(command)))
    return tuple(made)


def _action(document: Document) -> Action:
    data = document.map_at(("action",), document.data.get("action"))
    document.only(("action",), data, _ACTION)
    return Action(
        document.one_of(("action", "retry"), data.get("retry", "unknown"), RETRIES),
        document.one_of(("action", "owner"), data.get("owner", "unknown"), OWNERS),
    )


def _cases(document: Document) -> tuple[Case, ...]:
    made = []
    for index, case in enumerate(document.list_at(("cases",), document.data.get("cases"))):
        path = ("cases", index)
        if not document.is_map(path, case) or not document.only(path, case, _CASE):
            continue
        document.has(path, case, _CASE_NEEDS)
        expect = document.map_at((*path, "expect"), case.get("expect"))
        document.only((*path, "expect"), expect, _EXPECT)
        made.append(
            Case(
                name=str(case.get("name", "")),
                origin=str(case.get("origin", "")),
                given=_given(document, (*path, "given"), case.get("given") or {}),
                fires=expect.get("fires") is True,
                culprits=_workers(document, (*path, "expect", "culprits"), expect),
                suspects=_workers(document, (*path, "expect", "suspects"), expect),
                run=str(case["run"]) if case.get("run") else None,
            )
        )
    return tuple(made)


def _workers(document: Document, path: Place, expect: Mapping[str, object]) -> tuple[str, ...]:
    workers = [str(each) for each in document.list_at(path, expect.get(str(path[-1])))]
    for each in workers:
        if not re.search(WORKER, each):
            document.fault(path, f"`{each}` is no worker, like worker:1")
    return tuple(workers)


def _given(document: Document, path: Place, files: object) -> Mapping[str, str]:
    """File name → contents; a name stays inside the run."""
    if not isinstance(files, dict) or not all(isinstance(text, str) for text in files.values()):
        document.fault(path, "`given` maps names of files to their contents")
        return {}
    for name in files:
        if name.startswith("/") or ".." in name.split("/"):
            document.fault((*path, name), f"`{name}` lies outside the run")
    return files
