"""Rule files → a rule pack. Every fault of every file is reported at once, with file and line."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import regex

from analyzer.engine import conditions, expressions, overlay, texts
from analyzer.engine.document import Document, read
from analyzer.engine.document import Path as Place
from analyzer.engine.language import (
    BLAMES,
    KINDS,
    OWNERS,
    RETRIES,
    SCOPES,
    STATUSES,
    Case,
    Confidence,
    Rule,
    RulePack,
    Signal,
)
from analyzer.errors import RuleError
from analyzer.model import Action, Kind, Pattern, Role, Step, Verdict
from analyzer.schema import TABLES

_RULE_KEYS = {
    "id",
    "title",
    "role",
    "cause",
    "verdict",
    "status",
    "requires",
    "signals",
    "when",
    "blame",
    "confidence",
    "explains",
    "despite_finish",
    "summary",
    "why",
    "next",
    "action",
    "references",
    "cases",
}
_NEEDED = ("id", "title", "role", "signals", "when", "summary")
_SIGNAL_KEYS = {"table", "where", "log", "of", "who", "at_least", "says", "kind"}
_LOG_KEYS = {"any_of", "regex", "levels", "example"}
_CASE_KEYS = {"name", "origin", "given", "run", "expect"}
_OTHERS = ("causes.yaml", overlay.NAME)
"""Files of a rules directory that hold no rule."""


def load(directories: Sequence[Path]) -> RulePack:
    """All rules below some directories, checked.

    Raises:
        RuleError: at least one file is wrong; the text lists every fault as `file:line: what`.

    """
    files = sorted({file for directory in directories for file in directory.rglob("*.yaml")})
    causes, faults = _causes(files)
    documents = [read(file, _name(file, directories)) for file in files if file.name not in _OTHERS]
    rules = [rule for document in documents if (rule := _rule(document, causes))]
    faults += [fault for document in documents for fault in document.faults]
    faults += _duplicates(rules)
    overlays = [read(file, _name(file, directories)) for file in files if file.name == overlay.NAME]
    known = {str(document.data.get("id")) for document in documents}
    faults += [fault for each in overlays for fault in overlay.faults(each, known)]
    if faults:
        raise RuleError("\n".join(faults))
    tuned = overlay.laid_over(sorted(rules, key=lambda rule: rule.id), overlays)
    return RulePack(tuple(tuned), causes, _digest(files), ", ".join(each.file for each in overlays))


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


def _rule(document: Document, causes: Mapping[str, str]) -> Rule | None:
    """The rule that a document spells, or None after its faults were noted."""
    data = document.data
    if not data:
        return None
    _only(document, (), data, _RULE_KEYS)
    if missing := [key for key in _NEEDED if key not in data]:
        document.fault((), f"`{missing[0]}` is missing")
        return None
    signals = _signals(document)
    rule = Rule(
        id=str(data["id"]),
        file=document.file,
        title=str(data["title"]),
        role=Role(_one_of(document, ("role",), data["role"], [role.value for role in Role])),
        signals=signals,
        when=_when(document, signals),
        summary=str(data["summary"]),
        confidence=_confidence(document, signals),
        cause=None if data.get("cause") is None else str(data["cause"]),
        verdict=Verdict(
            _one_of(document, ("verdict",), data.get("verdict", "failed"), ["failed", "degraded", "healthy"])
        ),
        status=_one_of(document, ("status",), data.get("status", "experimental"), STATUSES),
        requires=tuple(_requires(document)),
        blame=_one_of(document, ("blame",), data.get("blame", "none"), BLAMES),
        explains=_strings(document, "explains"),
        despite_finish=data.get("despite_finish") is True,
        why=_strings(document, "why"),
        next=_steps(document),
        action=_action(document),
        references=_strings(document, "references"),
        cases=_cases(document),
    )
    _check(document, rule, causes)
    return rule


def _signals(document: Document) -> dict[str, Signal]:
    data = document.data["signals"]
    if not isinstance(data, dict) or not data:
        document.fault(("signals",), "`signals` names at least one signal")
        return {}
    return {
        name: _signal(document, name, body)
        for name, body in data.items()
        if _is_map(document, ("signals", name), body)
    }


def _signal(document: Document, name: str, body: Mapping[str, object]) -> Signal:
    path = ("signals", name)
    _only(document, path, body, _SIGNAL_KEYS)
    log = body.get("log")
    table = "matches" if log is not None else str(body.get("table", ""))
    if table not in TABLES:
        document.fault(
            path,
            f"`{table}` is no table; there are {', '.join(TABLES)}"
            if table
            else "names neither `table` nor `log`",
        )
        table = "job"
    where = dict(_map_at(document, (*path, "where"), body.get("where")))
    _check_where(document, path, table, where)
    pattern, example = _pattern(document, (*path, "log"), name, log) if isinstance(log, dict) else (None, "")
    if pattern:
        where |= {"pattern": pattern.id} | ({} if "after_end" in where else {"after_end": False})
    count = body.get("at_least", 1)
    if not isinstance(count, int):
        document.fault((*path, "at_least"), "`at_least` is a whole number")
    return Signal(
        name=name,
        table=table,
        where=where,
        of=_one_of(document, (*path, "of"), body.get("of", "anyone"), SCOPES),
        who=_who(document, path, table, str(body.get("who", "worker"))),
        at_least=count if isinstance(count, int) else 1,
        says=str(body.get("says", "")),
        pattern=pattern,
        example=example,
        kind=_one_of(document, (*path, "kind"), body.get("kind", "line"), KINDS),
    )


def _who(document: Document, path: tuple[str, ...], table: str, who: str) -> str:
    columns = {column.name for column in TABLES[table]}
    if who not in columns and table != "job":
        document.fault((*path, "who"), f"`{who}` is no column of {table}")
    return who


def _check_where(document: Document, path: tuple[str, ...], table: str, where: Mapping[str, object]) -> None:
    columns = {column.name: column for column in TABLES[table]}
    for name, condition in where.items():
        if found := conditions.fault(columns.get(name), condition):
            document.fault((*path, "where", name), f"`{name}` of {table} {found}")


def _pattern(
    document: Document, path: tuple[str, ...], name: str, log: Mapping[str, object]
) -> tuple[Pattern | None, str]:
    _only(document, path, log, _LOG_KEYS)
    literals = log.get("any_of")
    literals = [literals] if isinstance(literals, str) else literals
    if not isinstance(literals, list) or not all(
        isinstance(each, str) and len(each) >= 4 for each in literals or [0]
    ):
        document.fault((*path, "any_of"), "`any_of` lists literal texts of four characters or more")
        return None, ""
    expression = None if log.get("regex") is None else str(log["regex"])
    pattern = Pattern(
        f"{document.data['id']}/{name}", tuple(literals), expression, _levels(document, path, log)
    )
    example = str(log.get("example", ""))
    if found := _pattern_fault(pattern, example):
        document.fault((*path, "example" if "example" in log else "any_of"), found)
        return None, ""
    return pattern, example


def _levels(document: Document, path: tuple[str, ...], log: Mapping[str, object]) -> frozenset[str]:
    levels = log.get("levels") or []
    if isinstance(levels, list) and set(levels) <= set("IWEF"):
        return frozenset(levels)
    document.fault((*path, "levels"), "`levels` lists some of I, W, E and F")
    return frozenset()


def _pattern_fault(pattern: Pattern, example: str) -> str | None:
    if not example:
        return "an `example` line is missing that the pattern matches"
    if not any(literal in example for literal in pattern.literals):
        return "the example holds none of `any_of`"
    if pattern.regex is None:
        return None
    try:
        found = regex.search(pattern.regex, example, regex.DOTALL, timeout=1.0)
    except regex.error as error:
        return f"`regex` is none: {error}"
    except TimeoutError:
        return "`regex` takes more than a second on its own example"
    return None if found else "the example is not matched by `regex`"


def _when(document: Document, signals: Mapping[str, Signal]) -> expressions.Expression:
    try:
        expression = expressions.parse(str(document.data["when"]))
    except ValueError as error:
        document.fault(("when",), str(error))
        return expressions.Expression("and")
    for name in sorted(expression.names - signals.keys()):
        document.fault(("when",), f"`{name}` is no signal of this rule")
    return expression


def _confidence(document: Document, signals: Mapping[str, Signal]) -> Confidence:
    data = _map_at(document, ("confidence",), document.data.get("confidence"))
    _only(document, ("confidence",), data, {"base", "add", "cap_without"})
    by_signal = {}
    for key in ("add", "cap_without"):
        given = _map_at(document, ("confidence", key), data.get(key))
        for name in sorted(given.keys() - signals.keys()):
            document.fault(("confidence", key, name), f"`{name}` is no signal of this rule")
        by_signal[key] = {name: _number(document, ("confidence", key, name), given[name]) for name in given}
    return Confidence(_number(document, ("confidence", "base"), data.get("base", 0.5)), **by_signal)


def _number(document: Document, path: Place, value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    document.fault(path, f"`{value}` is no number")
    return 0.0


def _requires(document: Document) -> list[str]:
    kinds = [kind.value for kind in Kind]
    return [_one_of(document, ("requires",), each, kinds) for each in _strings(document, "requires")]


def _steps(document: Document) -> tuple[Step, ...]:
    made = []
    for index, step in enumerate(_list_at(document, ("next",), document.data.get("next"))):
        if isinstance(step, str):
            made.append(Step(step))
        elif _is_map(document, ("next", index), step) and _only(
            document, ("next", index), step, {"text", "command"}
        ):
            made.append(Step(str(step.get("text", "")), step.get("command")))
    return tuple(made)


def _action(document: Document) -> Action:
    data = _map_at(document, ("action",), document.data.get("action"))
    _only(document, ("action",), data, {"retry", "owner"})
    return Action(
        _one_of(document, ("action", "retry"), data.get("retry", "unknown"), RETRIES),
        _one_of(document, ("action", "owner"), data.get("owner", "unknown"), OWNERS),
    )


def _cases(document: Document) -> tuple[Case, ...]:
    made = []
    for index, case in enumerate(_list_at(document, ("cases",), document.data.get("cases"))):
        path = ("cases", index)
        if not _is_map(document, path, case) or not _only(document, path, case, _CASE_KEYS):
            continue
        expect = _map_at(document, (*path, "expect"), case.get("expect"))
        _only(document, (*path, "expect"), expect, {"fires", "culprits", "suspects"})
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
    return tuple(str(each) for each in _list_at(document, path, expect.get(str(path[-1]))))


def _given(document: Document, path: Place, files: object) -> Mapping[str, str]:
    """File name → contents; a name stays inside the run."""
    if not isinstance(files, dict) or not all(isinstance(text, str) for text in files.values()):
        document.fault(path, "`given` maps names of files to their contents")
        return {}
    for name in files:
        if name.startswith("/") or ".." in name.split("/"):
            document.fault((*path, name), f"`{name}` lies outside the run")
    return files


def _check(document: Document, rule: Rule, causes: Mapping[str, str]) -> None:
    """What only shows when the parts are seen together."""
    for key, value in document.data.items():
        if any(str(each).startswith("TODO") for each in (value if isinstance(value, list) else [value])):
            document.fault((key,), f"`{key}` is still to be written")
    stem = document.file.rsplit("/", 1)[-1].removesuffix(".yaml")
    if rule.id != stem:
        document.fault(("id",), f"the id `{rule.id}` is not the file's name `{stem}`")
    if rule.role is Role.CAUSE and rule.cause not in causes:
        document.fault(("cause",), f"`{rule.cause}` is no cause of causes.yaml")
    if rule.blame != "none" and not rule.binds:
        document.fault(("blame",), "blames a subject, but no signal binds one with `of: subject`")
    if not {case.fires for case in rule.cases} >= {True, False}:
        document.fault(("cases",), "needs a case that fires and one that stays quiet")
    for text in (rule.summary, *rule.why, *(step.text for step in rule.next)):
        _check_placeholders(document, rule, text)


def _check_placeholders(document: Document, rule: Rule, text: str) -> None:
    for name, column in texts.placeholders(text):
        if name in {"subject", "others"} and column is None:
            continue
        table = {"life": "lifetimes", "job": "job"}.get(name) or (
            rule.signals[name].table if name in rule.signals else None
        )
        if table is None:
            document.fault((), f"`{{{name}}}` names no signal")
        elif column not in _speakable(rule, name, table):
            document.fault((), f"`{{{name}.{column}}}` names no column of {table} and no group of its regex")


def _speakable(rule: Rule, name: str, table: str) -> set[str]:
    columns = {column.name for column in TABLES[table]}
    pattern = rule.signals[name].pattern if name in rule.signals else None
    groups = set(regex.compile(pattern.regex).groupindex) if pattern and pattern.regex else set()
    return columns | groups | {"count"}


def _only(document: Document, path: Place, data: Mapping[str, object], allowed: Iterable[str]) -> bool:
    unknown = sorted(key for key in data if key not in set(allowed))
    for key in unknown:
        document.fault((*path, key), f"`{key}` is not known here; there are {', '.join(sorted(allowed))}")
    return not unknown


def _one_of(document: Document, path: Place, value: object, allowed: Sequence[str]) -> str:
    if value in allowed:
        return str(value)
    document.fault(path, f"`{value}` is none of {', '.join(allowed)}")
    return allowed[0]


def _is_map(document: Document, path: Place, value: object) -> bool:
    if isinstance(value, dict):
        return True
    document.fault(path, "is to be a mapping")
    return False


def _map_at(document: Document, path: Place, value: object) -> dict[str, Any]:
    """A mapping that may be left out."""
    return value if value is not None and _is_map(document, path, value) else {}  # type: ignore[return-value]


def _list_at(document: Document, path: Place, value: object) -> list[Any]:
    """A list that may be left out."""
    if value is None or isinstance(value, list):
        return value or []
    document.fault(path, "is to be a list")
    return []


def _strings(document: Document, key: str) -> tuple[str, ...]:
    value = document.data.get(key) or []
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return tuple(re.sub(r"\s+", " ", each).strip() for each in value)
    document.fault((key,), f"`{key}` is a list of texts")
    return ()
