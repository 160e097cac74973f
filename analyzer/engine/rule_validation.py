"""What only shows when the parts of a rule are seen together."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase

import regex

from analyzer.engine import texts
from analyzer.engine.document import Document
from analyzer.engine.language import ID, Rule
from analyzer.model.findings import Role
from analyzer.model.schema import TABLES


def check(document: Document, rule: Rule, causes: Mapping[str, str], rules: Collection[str]) -> None:
    """Note whatever is wrong with a rule that was read, given all causes and the ids of all rules."""
    _check_written(document)
    stem = document.file.rsplit("/", 1)[-1].removesuffix(".yaml")
    if rule.id != stem:
        document.fault(("id",), f"the id `{rule.id}` is not the file's name `{stem}`")
    if not re.search(ID, rule.id):
        document.fault(("id",), f"the id `{rule.id}` is not made of small letters, digits and hyphens")
    if rule.role is Role.CAUSE and rule.cause not in causes:
        document.fault(("cause",), f"`{rule.cause}` is no cause of causes.yaml")
    if rule.blame != "none" and not rule.binds:
        document.fault(("blame",), "blames a subject, but no signal binds one with `of: subject`")
    if not {case.fires for case in rule.cases} >= {True, False}:
        document.fault(("cases",), "needs a case that fires and one that stays quiet")
    _check_explained(document, rule, (*rules, *causes))
    for text in (rule.summary, *rule.why, *rule.collect, *(step.text for step in rule.next)):
        _check_placeholders(document, rule, text)


def _check_written(document: Document) -> None:
    for key, value in document.data.items():
        if any(str(each).startswith("TODO") for each in (value if isinstance(value, list) else [value])):
            document.fault((key,), f"`{key}` is still to be written")


def _check_explained(document: Document, rule: Rule, names: Collection[str]) -> None:
    for key, patterns in (("explains", rule.explains), ("contradicts", rule.contradicts)):
        for index, pattern in enumerate(patterns):
            if not any(fnmatchcase(name, pattern) for name in names):
                document.fault((key, index), f"`{pattern}` is no rule and no cause, and matches none")


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
