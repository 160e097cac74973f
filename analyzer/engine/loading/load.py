"""Loads rule files; reports all faults of all files together, with file and line."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from analyzer.engine import expressions
from analyzer.engine.loading import messages, overlay, validation
from analyzer.engine.loading.schemas import file_schema
from analyzer.engine.rule_types import Case, Confidence, Pack, Rule, RulePack, Signal, Within
from analyzer.model.errors import RuleError
from analyzer.model.findings import Action, Role, Step, Verdict
from analyzer.model.messages import Messages
from analyzer.model.run import Pattern
from analyzer.storage.yaml_document import Document, in_order, read

_CAUSES, _PACK = "causes.yaml", "pack.yaml"
_NO_RULES = (_CAUSES, _PACK, overlay.NAME)
_NONE = RulePack((), {}, "")


def load(directories: Sequence[Path], first: RulePack = _NONE) -> RulePack:
    """Return all rules below the directories, checked.

    `first` has the rules and messages of the first directory, if it was loaded alone before; those files are
    not read again.

    Raises:
        RuleError: at least one file is wrong; the message lists each fault as `file:line: what`.
    """
    files = list(dict.fromkeys(file for each in directories for file in sorted(each.rglob("*.yaml"))))
    known = {file for file in files if first.rules and _has_rules(file) and directories[0] in file.parents}
    described = {file: read(file, _name(file, directories)) for file in files if file not in known}
    worded = {file for file in described if file.parent.name == messages.FOLDER}
    said = messages.messages(document for file, document in described.items() if file in worded)
    documents = {file: document for file, document in described.items() if file not in worded}
    of_causes = [document for file, document in documents.items() if file.name == _CAUSES]
    validation.check_causes(of_causes)
    stated = _causes(of_causes)
    causes = {cause: text["means"] for cause, text in stated.items()}
    of_rules = [document for file, document in documents.items() if _has_rules(file)]
    written = [each for document in of_rules for each in _parts(document, causes)]
    ids = [*(rule.id for rule in first.rules), *(str(document.data.get("id")) for document in written)]
    own = [rule for document in written if (rule := _checked(document, ids, causes))]
    rules = sorted([*first.rules, *own], key=lambda rule: rule.id)
    overlays = [document for file, document in documents.items() if file.name == overlay.NAME]
    for each in overlays:
        overlay.check(each, ids, {rule.id: rule for rule in rules})
    packs = tuple(_pack(directory, files, described) for directory in directories)
    renamed = _renamed(described[each / _PACK] for each in directories if each / _PACK in described)
    machine = tuple(cause for cause, text in stated.items() if text.get("machine"))
    validation.check_ids(written, {rule.id: rule.file for rule in first.rules})
    if faults := in_order([*described.values(), *written]):
        raise RuleError("\n".join(faults))
    tuned = overlay.with_overlays(rules, overlays)
    applied = ", ".join(each.file for each in overlays)
    wording = Messages((*first.messages.known, *said.known))
    return RulePack(tuple(tuned), causes, _digest(files), applied, packs, wording, machine, renamed)


def _has_rules(file: Path) -> bool:
    """Return whether a file holds rules or messages, by its name."""
    return file.name not in _NO_RULES


def _causes(documents: Iterable[Document]) -> dict[str, Mapping[str, Any]]:
    right = [document.data for document in documents if document.check(file_schema("causes"))]
    return {cause: text for data in right for cause, text in data.items()}


def _pack(directory: Path, files: Iterable[Path], documents: Mapping[Path, Document]) -> Pack:
    """Return name, version and digest of a directory of rules; without `pack.yaml`, the directory's name."""
    digest = _digest(file for file in files if directory in file.parents)
    described = documents.get(directory / _PACK)
    if described is None or not described.check(file_schema("pack")):
        return Pack(re.sub(r"[^\w.-]", "-", directory.name), None, digest)
    return Pack(described.data["name"], described.data["version"], digest)


def _renamed(packs: Iterable[Document]) -> dict[str, str]:
    right = [pack.data for pack in packs if pack.check(file_schema("pack"))]
    return {former: cause for data in right for former, cause in data.get("renamed", {}).items()}


def _name(file: Path, directories: Sequence[Path]) -> str:
    base = next(directory for directory in directories if directory in file.parents)
    return f"{base.name}/{file.relative_to(base).as_posix()}"


def _digest(files: Iterable[Path]) -> str:
    whole = hashlib.sha256()
    for file in files:
        whole.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return whole.hexdigest()[:16]


def _parts(document: Document, causes: Mapping[str, str]) -> Iterator[Document]:
    """Yield the rule of a file, or each of its variants merged with the shared keys."""
    validation.check_written(document)
    if document.check(file_schema("rule")):
        shared = {key: value for key, value in document.data.items() if key != "variants"}
        validation.check_file(document)
        if "variants" not in document.data:
            yield document
        for name in document.data.get("variants", ()):
            yield _variant(document, name, shared)
    elif document.data:
        validation.check_cause(document, causes)
        variants = document.data.get("variants")
        for name in variants if isinstance(variants, dict) else [document.data.get("id")]:
            yield Document(document.file, {"id": name})


def _variant(document: Document, name: str, shared: Mapping[str, Any]) -> Document:
    """Return a variant as a rule: its keys replace shared ones, its signals are added to shared ones."""
    own = document.data["variants"][name]
    data = {**shared, **own, "id": name}
    if signals := {**shared.get("signals", {}), **own.get("signals", {})}:
        data["signals"] = signals
    replaced = own.keys() - {"signals"} | {"id", "variants"}
    lines = {path: line for path, line in document.lines.items() if path and path[0] not in replaced}
    lines |= {path[2:]: line for path, line in document.lines.items() if path[:2] == ("variants", name)}
    return Document(document.file, data, lines)


def _checked(document: Document, ids: Sequence[str], causes: Mapping[str, str]) -> Rule | None:
    """Return the rule of a schema-valid document; None, with faults added to the document, if it is wrong."""
    if missing := [key for key in file_schema("rule")["else"]["required"] if key not in document.data]:
        if document.data.keys() - {"id"}:
            document.fault((), f"`{missing[0]}` is missing")
        return None
    try:
        rule = _rule(document)
    except ValueError as error:
        document.fault(("when",), str(error))
        return None
    validation.check(document, rule, ids, causes)
    return rule


def _rule(document: Document) -> Rule:
    data = document.data
    texts = ("explains", "contradicts", "why", "collect", "references")
    return Rule(
        id=data["id"],
        file=document.file,
        title=data["title"],
        role=Role(data["role"]),
        signals={name: _signal(data["id"], name, body) for name, body in data["signals"].items()},
        when=expressions.parse(data["when"]),
        summary=data["summary"],
        confidence=_confidence(data.get("confidence", "possible")),
        cause=data.get("cause"),
        verdict=Verdict(data.get("verdict", "failed")),
        status=data.get("status", "experimental"),
        requires=tuple(data.get("requires", ())),
        blame=data.get("blame", "none"),
        refuted_by=tuple(data.get("refuted_by", ())),
        despite_finish=data.get("despite_finish", False),
        next=tuple(Step(step) if isinstance(step, str) else Step(**step) for step in data.get("next", ())),
        action=Action(**data.get("action", {})),
        cases=tuple(_case(case) for case in data["cases"]),
        **{key: tuple(" ".join(text.split()) for text in data.get(key, ())) for key in texts},
    )


def _signal(rule: str, name: str, body: Mapping[str, Any]) -> Signal:
    log = body.get("log")
    where, pattern = dict(body.get("where", {})), None
    if log:
        literals, levels = log["any_of"], frozenset(log.get("levels", ()))
        literals = (literals,) if isinstance(literals, str) else tuple(literals)
        pattern = Pattern(f"{rule}/{name}", literals, log.get("regex"), levels)
        where = {"after_end": False, "foreign": {"known": False}, **where, "pattern": pattern.id}
    plain = ("of", "who", "at_least", "after", "before", "says", "kind", "basis")
    return Signal(
        name,
        "matches" if log else body["table"],
        where,
        within=Within(**body.get("within", {})),
        pattern=pattern,
        example=log["example"] if log else "",
        **{key: body[key] for key in plain if key in body},
    )


def _confidence(given: str | Mapping[str, Any]) -> Confidence:
    if isinstance(given, str):
        return Confidence(given, {}, {})
    return Confidence(given["base"], given.get("raise", {}), given.get("cap_without", {}))


def _case(case: Mapping[str, Any]) -> Case:
    expect = case["expect"]
    return Case(
        name=case["name"],
        origin=case["origin"],
        given=case.get("given", {}),
        fires=expect["fires"],
        culprits=tuple(expect.get("culprits", ())),
        suspects=tuple(expect.get("suspects", ())),
        run=case.get("run"),
    )
