"""What only shows when the parts of a rule are seen together."""

from __future__ import annotations

from collections.abc import Mapping

import regex

from analyzer.engine import texts
from analyzer.engine.document import Document
from analyzer.engine.language import Rule
from analyzer.model import Role
from analyzer.schema import TABLES


def check(document: Document, rule: Rule, causes: Mapping[str, str]) -> None:
    """Note whatever is wrong with a rule that was read."""
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
