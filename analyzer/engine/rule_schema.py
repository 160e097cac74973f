"""JSON Schemas of rule files, used by `load` and by editors.

`rule_validation` checks what a schema cannot: that an example matches its regex, that names exist.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from analyzer.engine.conditions import VERSION, operators
from analyzer.engine.language import (
    BLAMES,
    ID,
    KINDS,
    LOG_LEVELS,
    OWNERS,
    RETRIES,
    SCOPES,
    SHORTEST_LITERAL,
    STATUSES,
    VERDICTS,
    WORKER,
)
from analyzer.model.confidence import LEVELS
from analyzer.model.findings import Role
from analyzer.model.schema import TABLES, Column
from analyzer.model.source_kinds import Kind

Schema = dict[str, Any]

RULE_NEEDS = ("id", "title", "role", "signals", "when", "summary", "cases")
_TEXT: Schema = {"type": "string"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_TYPES = {"text": "string", "bool": "boolean", "int": "integer", "number": "number", "time": "number"}
_OUTSIDE = r"^(?!/)(?!(.*/)?\.\.(/|$))"
"""What the path of a case's file looks like: it stays inside the run."""


@cache
def rule_schema() -> Schema:
    """Return the JSON Schema (2020-12) of a rule, or of variants that share a cause."""
    rule = _rule_keys()
    own: dict[str, Any] = {key: value for key, value in rule.items() if key != "id"}
    variant = _map("key of a rule", **own)
    variants = {"type": "object", "minProperties": 2, "additionalProperties": variant}
    file = _map("key of a rule", "id", **rule, variants=variants)
    heading = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    forms = {"if": {"required": ["variants"]}, "else": {"required": list(RULE_NEEDS)}}
    return {**heading, **file, **forms, "$defs": _parts()}


@cache
def table_schema(table: str) -> Schema:
    """Return the JSON Schema of conditions on the columns of a table."""
    return {**_where(table), "$defs": _tests()}


@cache
def causes_schema() -> Schema:
    """Return the JSON Schema of `causes.yaml`."""
    cause = _map("key of a cause", "means", means=_TEXT, seen=_one_of(("cpu", "wild")), parent=_TEXT)
    return {"type": "object", "additionalProperties": cause}


@cache
def pack_schema() -> Schema:
    """Return the JSON Schema of `pack.yaml`."""
    text = {"type": "string", "pattern": r"\S", "title": "name"}
    return _map("key of a pack", "name", "version", name=text, version=text)


@cache
def overlay_schema() -> Schema:
    """Return the JSON Schema of `overlay.yaml`."""
    where = {"type": "object", "minProperties": 1}
    return _map(
        "key of an overlay",
        switch_off=_TEXTS,
        status={"type": "object", "additionalProperties": _one_of(STATUSES, "status")},
        verdict={"type": "object", "additionalProperties": _one_of(VERDICTS, "verdict")},
        **{"except": _by_name({"type": "object", "additionalProperties": where})},
    )


def _rule_keys() -> dict[str, Any]:
    return {
        "id": {"type": "string", "pattern": ID, "title": "id of small letters, digits and hyphens"},
        "title": _TEXT,
        "role": _one_of([role.value for role in Role], "role"),
        "cause": {"type": "string", "description": "id of causes.yaml; for role cause"},
        "verdict": _one_of(VERDICTS, "verdict"),
        "status": _one_of(STATUSES, "status"),
        "requires": {"type": "array", "items": _one_of([kind.value for kind in Kind], "kind of source")},
        "signals": {"type": "object", "minProperties": 1, "additionalProperties": {"$ref": "#/$defs/signal"}},
        "when": {"type": "string", "description": "names of signals, and, or, not, parentheses"},
        "refuted_by": {**_TEXTS, "description": "signals any of which shows that it is wrong"},
        "blame": _one_of(BLAMES, "blame"),
        "confidence": _confidence(),
        "explains": _TEXTS,
        "contradicts": {**_TEXTS, "description": "rules and causes that cannot be true together with it"},
        "despite_finish": {"type": "boolean"},
        "summary": _TEXT,
        "why": _TEXTS,
        "next": {"type": "array", "items": {"anyOf": [_TEXT, {"$ref": "#/$defs/step"}]}},
        "collect": {**_TEXTS, "description": "what would have made it surer, for the next time"},
        "action": _map("key of an action", retry=_one_of(RETRIES), owner=_one_of(OWNERS)),
        "references": _TEXTS,
        "cases": {"type": "array", "minItems": 2, "items": {"$ref": "#/$defs/case"}},
    }


def _confidence() -> Schema:
    level = _one_of(tuple(LEVELS), "level of confidence")
    levels = _map(
        "part of a confidence", "base", base=level, **{"raise": _by_name(level)}, cap_without=_by_name(level)
    )
    return {"anyOf": [level | {"type": "string"}, levels]}


def _parts() -> dict[str, Schema]:
    step = _map("key of a step", "text", text=_TEXT, command=_TEXT)
    return {"signal": _signal(), "case": _case(), "log": _log(), "step": step, **_tests()}


def _signal() -> Schema:
    signal = _map(
        "key of a signal",
        table=_one_of(tuple(TABLES), "table"),
        log={"$ref": "#/$defs/log"},
        where={"type": "object"},
        of=_one_of(SCOPES, "scope"),
        who=_TEXT,
        at_least={"type": "integer", "minimum": 1},
        after={**_TEXT, "description": "a signal above; only rows behind one of its rows count"},
        before={**_TEXT, "description": "a signal above; only rows before one of its rows count"},
        within=_map(
            "distance", steps={"type": "integer", "minimum": 0}, seconds={"type": "number", "minimum": 0}
        ),
        says=_TEXT,
        kind=_one_of(KINDS),
        basis={**_TEXT, "description": "why its numbers are these: a source, a distribution, or physics"},
    )
    either = {"oneOf": [{"required": ["table"]}, {"required": ["log"]}]}
    columns = [_columns({"table": {"const": name}}, "table", name) for name in TABLES]
    return {**signal, **either, "allOf": [*columns, _columns({}, "log", "matches")]}


def _columns(given: Schema, key: str, table: str) -> Schema:
    """Return the schema in which `where` and `who` name columns of this table."""
    names = [column.name for column in TABLES[table]]
    then = {"where": _where(table), "who": _one_of(names, f"column of {table}")}
    return {"if": {"required": [key], "properties": given}, "then": {"properties": then}}


def _where(table: str) -> Schema:
    return _map(f"column of {table}", **{column.name: _condition(column) for column in TABLES[table]})


def _condition(column: Column) -> Schema:
    return {"description": column.meaning, "$ref": f"#/$defs/{column.type}"}


def _tests() -> dict[str, Schema]:
    return {name: _test(name) for name in _TYPES}


def _test(type_: str) -> Schema:
    """Return the schema of a test on this column type: a value, a list, or operators."""
    value: Schema = {"type": _TYPES[type_]}
    values: Schema = {"anyOf": [value, {"type": "array", "minItems": 1, "items": value}]}
    version: Schema = {"type": "string", "pattern": VERSION, "title": 'version, like "2.11"'}
    operand: Mapping[str, Schema] = {
        "known": {"type": "boolean"},
        "contains": values,
        "matches": {"type": "string", "format": "regex"},
        "not": values,
        "since": version,
        "before": version,
    }
    tests = _map(
        f"test of a column of type {type_}",
        **{name: operand.get(name, value) for name in operators(type_)},
    )
    return {"anyOf": [*values["anyOf"], {**tests, "minProperties": 1}]}


def _log() -> Schema:
    literal = {"type": "string", "minLength": SHORTEST_LITERAL}
    return _map(
        "key of a log pattern",
        "any_of",
        "example",
        any_of={"anyOf": [literal, {"type": "array", "minItems": 1, "items": literal}]},
        regex=_TEXT,
        levels={"type": "array", "items": _one_of(LOG_LEVELS, "level")},
        example={"type": "string", "description": "a line that the pattern matches"},
    )


def _case() -> Schema:
    worker = {"type": "string", "pattern": WORKER, "title": "worker, like worker:1"}
    workers = {"type": "array", "items": worker}
    given = {"type": "object", "additionalProperties": _TEXT, "description": "file name to contents"}
    inside = {"pattern": _OUTSIDE, "title": "path inside the run"}
    case = _map(
        "key of a case",
        "name",
        "origin",
        "expect",
        name=_TEXT,
        origin={"type": "string", "description": "a recorded run, or the source that the words are from"},
        given={**given, "propertyNames": inside},
        run={"type": "string", "description": "instead of `given`: a recorded run"},
        expect=_map("outcome", "fires", fires={"type": "boolean"}, culprits=workers, suspects=workers),
    )
    return {**case, "oneOf": [{"required": ["given"]}, {"required": ["run"]}]}


def _map(noun: str, /, *required: str, **properties: Schema) -> Schema:
    """Return the schema of a mapping with these keys and no others; `noun` names it in messages."""
    made = {"type": "object", "additionalProperties": False, "properties": properties, "title": noun}
    return {**made, "required": list(required)} if required else made


def _one_of(values: Sequence[str], noun: str = "word known here") -> Schema:
    return {"enum": list(values), "title": noun}


def _by_name(schema: Schema) -> Schema:
    return {"type": "object", "additionalProperties": schema}
