"""Checks what a schema cannot: names exist, examples match and thresholds have a reason."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import polars as pl
import regex

from analyzer.engine import placeholder_texts
from analyzer.engine.conditions import NUMERIC
from analyzer.engine.loading.messages import example_fault
from analyzer.engine.rule_types import Rule, Signal
from analyzer.model.findings import Role
from analyzer.model.run import Pattern
from analyzer.model.schema import TABLES
from analyzer.storage.yaml_document import Document, Path

_TAKEN = frozenset({"count", *(column.name for column in TABLES["matches"])})
"""Placeholders of a match, which no regex group may be named after."""
_MAX_REPEATS = 50
_REPEATED = re.compile(r"(?<!\\)\{\d*,?(\d+)\}")
"""Regex of a bounded repetition, with its bound."""
_NO_REASON = (0, 1)
"""Thresholds that need no reason, because they only test for presence or absence."""


def check_file(document: Document) -> None:
    """Add a fault if the file's name is not the rule's id."""
    stem = document.file.rsplit("/", 1)[-1].removesuffix(".yaml")
    if document.data["id"] != stem:
        document.fault(("id",), f"the id `{document.data['id']}` is not the file's name `{stem}`")


_CAUSE = re.compile(r"[a-z][a-z0-9_]*\.[a-z0-9_]+")
_VERDICTS = frozenset({"healthy", "unknown"})
"""Causes that are verdicts too, and are of no family."""
_NO_BASIS = "compares with a number without a `basis`: a text next to `where` that says why this number"


def check_ids(documents: Collection[Document], known: Mapping[str, str]) -> None:
    """Add a fault for each id that is used twice; `known` maps ids of rules loaded before to their files."""
    files = dict(known)
    for document in documents:
        name = str(document.data.get("id"))
        if name in files:
            document.fault(("id",), f"the id `{name}` is that of {files[name]} too")
        files.setdefault(name, document.file)


def check_causes(documents: Iterable[Document]) -> None:
    """Add a fault for each cause that an earlier file declares too, or whose id is not `family.name`."""
    first: dict[str, Document] = {}
    for document in documents:
        for cause in document.data:
            other = first.setdefault(cause, document)
            if other is not document:
                document.fault((cause,), f"`{cause}` is a cause of {other.file} already; name another")
            elif cause not in _VERDICTS and not _CAUSE.fullmatch(cause):
                form = "`family.name` in lowercase letters, digits and _, such as `acme.lease_lost`"
                document.fault((cause,), f"`{cause}` is not the id of a cause: {form}")


def check(document: Document, rule: Rule, rules: Collection[str], causes: Collection[str]) -> None:
    """Add the faults of a schema-valid rule to its document; `rules` and `causes` are all known ids."""
    check_cause(document, causes)
    if rule.blame != "none" and not rule.binds:
        document.fault(("blame",), "blames a subject, but no signal binds one with `of: subject`")
    if not {case.fires for case in rule.cases} >= {True, False}:
        document.fault(("cases",), "needs a case that fires and one that stays quiet")
    for name in sorted(rule.when.names):
        document.known(("when",), name, rule.signals, "signal of this rule")
    _check_refuted(document, rule)
    for key, given in (("raise", rule.confidence.raised), ("cap_without", rule.confidence.cap_without)):
        for name in given:
            document.known(("confidence", key, name), name, rule.signals, "signal of this rule")
    if excluding := rule.action.ruled_out_by:
        document.known(("action", "ruled_out_by"), excluding, rule.signals, "signal of this rule")
    for signal in rule.signals.values():
        _check_signal(document, rule, signal)
    _check_explained(document, rule, (*rules, *causes))
    for path, text in _texts(document.data):
        _check_placeholders(document, path, rule, text)


def check_cause(document: Document, causes: Collection[str]) -> None:
    """Add a fault if a rule names an unknown cause; this works on files with other faults, too."""
    given = document.data
    if given.get("role") == Role.CAUSE and "cause" in given and not str(given["cause"]).startswith("TODO"):
        noun = "cause that `mwms-rules causes` lists or a `causes.yaml` in this directory adds"
        document.known(("cause",), str(given["cause"]), causes, noun)


def check_written(document: Document) -> None:
    """Add a fault for each text of a rule file that still begins with TODO."""
    for path in _unwritten(document.data):
        document.fault(path, f"`{path[-1]}` is still to be written")


def _unwritten(value: object, path: Path = ()) -> Iterator[Path]:
    """Yield the path of each text that begins with TODO, except below `action`, `cases` and `log`."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            if key not in {"action", "cases", "log"}:
                yield from _unwritten(part, (*path, key))
    elif isinstance(value, list):
        for part in value:
            yield from _unwritten(part, path)
    elif str(value).startswith("TODO"):
        yield path


def _check_refuted(document: Document, rule: Rule) -> None:
    """Add a fault for unknown names in `refuted_by`, and for a cause that needs `refuted_by` but has none."""
    for index, name in enumerate(rule.refuted_by):
        document.known(("refuted_by", index), name, rule.signals, "signal of this rule")
    wanted = sorted(rule.when.wanted & rule.signals.keys())
    absent = next((name for name in wanted if rule.signals[name].kind == "absence"), None)
    if absent and rule.role is Role.CAUSE and not rule.refuted_by:
        fault = f"rests on an absence, `{absent}`, but no `refuted_by` says what would contradict it"
        document.fault(("when",), fault)


def _check_signal(document: Document, rule: Rule, signal: Signal) -> None:
    path = ("signals", signal.name)
    _check_order(document, path, list(rule.signals), signal)
    if not signal.basis and any(number not in _NO_REASON for number in _thresholds(signal)):
        document.fault(path, _NO_BASIS)
    for column, condition in signal.where.items():
        pattern = condition.get("matches") if isinstance(condition, Mapping) else None
        if pattern and (found := _polars_fault(str(pattern))):
            document.fault((*path, "where", column, "matches"), found)
    if signal.pattern and (fault := _pattern_fault(signal.pattern, signal.example)):
        document.fault((*path, "log", fault[0]), fault[1])


def _check_order(document: Document, path: Path, names: Sequence[str], signal: Signal) -> None:
    """Add a fault for each wrong use of `after`, `before` or `within`.

    They may name only signals that the file declares further up.
    """
    if signal.after and signal.before:
        document.fault((*path, "before"), "a signal comes after another one or before it, not both")
    if any(limit is not None for limit in signal.within) and not (signal.after or signal.before):
        document.fault((*path, "within"), "`within` goes with `after` or `before`")
    for side in ("after", "before"):
        if other := getattr(signal, side):
            above = names[: names.index(signal.name)]
            document.known((*path, side), other, above, "signal above this one")


def _thresholds(signal: Signal) -> Iterator[float]:
    """Yield each threshold of a signal: `at_least`, the distances of `within`, and numbers in conditions."""
    yield signal.at_least
    yield from (limit for limit in signal.within if limit is not None)
    for condition in signal.where.values():
        if isinstance(condition, Mapping):
            yield from (condition[operator] for operator in NUMERIC if operator in condition)


def _polars_fault(pattern: str) -> str | None:
    if any(int(bound) > _MAX_REPEATS for bound in _REPEATED.findall(pattern)):
        return f"repeats over {_MAX_REPEATS} times: polars copies what is repeated, at each start; use `*`"
    try:
        pl.Series(["x"]).str.contains(pattern)
    except pl.exceptions.ComputeError as error:
        return f"invalid regex for polars: {error}"
    return None


def _pattern_fault(pattern: Pattern, example: str) -> tuple[str, str] | None:
    """Return (key of the signal's `log`, fault) for the first thing that is wrong with a pattern."""
    holds = any(literal in example for literal in pattern.literals)
    if fault := example_fault(example, pattern.regex, holds=holds):
        return fault
    taken = sorted(_TAKEN & (_groups(pattern) or set()))
    what = f"`regex` has a group `{taken[0]}`, which is the name of a column of matches" if taken else ""
    return ("regex", what) if what else None


def _check_explained(document: Document, rule: Rule, names: Collection[str]) -> None:
    families = {f"{name.partition('.')[0]}.*" for name in names if "." in name}
    for key, patterns in (("explains", rule.explains), ("contradicts", rule.contradicts)):
        for index, pattern in enumerate(patterns):
            if pattern not in names and not any(fnmatchcase(name, pattern) for name in names):
                document.known(
                    (key, index), pattern, {*names, *families}, "rule and no cause, and matches none"
                )


def _texts(data: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """Yield (path, text) of each text of a rule that the report shows."""
    yield ("summary",), data["summary"]
    for key in ("why", "collect", "next"):
        for index, text in enumerate(data.get(key, ())):
            yield (key, index), text if isinstance(text, str) else text["text"]
    for name, signal in data["signals"].items():
        yield ("signals", name, "says"), signal.get("says", "")


def _check_placeholders(document: Document, path: Path, rule: Rule, text: str) -> None:
    for choice in placeholder_texts.unfilled(text):
        document.fault(path, f"`{choice}` is no choice by number, such as `{{is|are}}`, of one word each")
    for name, column in placeholder_texts.placeholders(text):
        if name in {"subject", "everywhere", "others", "unfinished", "victims"} and column is None:
            continue
        signal = rule.signals.get(name)
        table = {"life": "lifetimes", "job": "job"}.get(name) or (signal and signal.table)
        if table is None:
            document.known(path, name, rule.signals, "signal of this rule")
        elif (groups := _groups(signal.pattern if signal else None)) is not None:
            known = {column.name for column in TABLES[table]} | groups | {"count"}
            of_regex = " and no group of its regex" if table == "matches" else ""
            noun = f"column of {table}{of_regex} (docs/tables.md lists the columns)"
            document.known(path, str(column), known, noun)


def _groups(pattern: Pattern | None) -> set[str] | None:
    """Return the names of the groups in a pattern's regex; None if invalid, which is reported elsewhere."""
    try:
        return set(regex.compile(pattern.regex).groupindex) if pattern and pattern.regex else set()
    except regex.error:
        return None
