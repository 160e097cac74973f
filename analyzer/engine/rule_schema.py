"""The shape of a rule file as a JSON Schema, for editors; `load` takes the keys of every part from it.

What a schema cannot say (that an example matches its regex, that a text names a signal) only `load` finds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analyzer.engine.conditions import VERSION, operators
from analyzer.engine.language import (
    BLAMES,
    ID,
    KINDS,
    LEVELS,
    OWNERS,
    RETRIES,
    SCOPES,
    SHORTEST_LITERAL,
    STATUSES,
    VERDICTS,
    WORKER,
)
from analyzer.model.findings import Role
from analyzer.model.schema import TABLES, Column
from analyzer.model.source_kinds import Kind

Schema = dict[str, Any]

_NEEDED = ("id", "title", "role", "signals", "when", "summary", "cases")
_TEXT: Schema = {"type": "string"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
_TYPES = {"text": "string", "bool": "boolean", "int": "integer", "number": "number", "time": "number"}


def rule_schema() -> Schema:
    """JSON Schema (2020-12) of `rules/<family>/<id>.yaml`."""
    rule = _map(
        *_NEEDED,
        id={"type": "string", "pattern": ID, "description": "the file's name"},
        title=_TEXT,
        role=_one_of([role.value for role in Role]),
        cause={"type": "string", "description": "id of causes.yaml; for role cause"},
        verdict=_one_of(VERDICTS),
        status=_one_of(STATUSES),
        requires={"type": "array", "items": _one_of([kind.value for kind in Kind])},
        signals={"type": "object", "minProperties": 1, "additionalProperties": {"$ref": "#/$defs/signal"}},
        when={"type": "string", "description": "names of signals, and, or, not, parentheses"},
        blame=_one_of(BLAMES),
        confidence=_map("base", base=_SHARE, add=_by_signal(), cap_without=_by_signal()),
        explains=_TEXTS,
        contradicts={**_TEXTS, "description": "rules and causes that cannot be true together with it"},
        despite_finish={"type": "boolean"},
        summary=_TEXT,
        why=_TEXTS,
        next={"type": "array", "items": {"anyOf": [_TEXT, {"$ref": "#/$defs/step"}]}},
        collect={**_TEXTS, "description": "what would have made it surer, for the next time"},
        action=_map(retry=_one_of(RETRIES), owner=_one_of(OWNERS)),
        references=_TEXTS,
        cases={"type": "array", "minItems": 2, "items": {"$ref": "#/$defs/case"}},
    )
    heading = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A rule of mwms-analyze"}
    tests = {name: _test(name) for name in _TYPES}
    step = _map("text", text=_TEXT, command=_TEXT)
    parts = {"signal": _signal(), "case": _case(), "log": _log(), "step": step}
    return {**heading, **rule, "$defs": {**parts, **tests}}


def keys(part: str) -> Sequence[str]:
    """Those that a part of a rule file may have: `rule`, `signal`, `log`, `case`, `step` and so on."""
    return tuple(_parts()[part]["properties"])


def needed(part: str) -> Sequence[str]:
    """Those that it must have."""
    return tuple(_parts()[part]["required"])


def _parts() -> Mapping[str, Schema]:
    whole = rule_schema()
    nested = {**whole["$defs"]["case"]["properties"], **whole["$defs"]["signal"]["properties"]}
    return {**nested, **whole["properties"], **whole["$defs"], "rule": whole}


def _signal() -> Schema:
    signal = _map(
        table=_one_of(tuple(TABLES)),
        log={"$ref": "#/$defs/log"},
        where={"type": "object"},
        of=_one_of(SCOPES),
        who=_TEXT,
        at_least={"type": "integer", "minimum": 1},
        after={**_TEXT, "description": "a signal above; only rows behind one of its rows count"},
        before={**_TEXT, "description": "a signal above; only rows before one of its rows count"},
        within=_map(steps={"type": "integer", "minimum": 0}, seconds={"type": "number", "minimum": 0}),
        says=_TEXT,
        kind=_one_of(KINDS),
    )
    columns = [_columns({"table": {"const": name}}, "table", TABLES[name]) for name in TABLES]
    return {
        **signal,
        "oneOf": [{"required": ["table"]}, {"required": ["log"]}],
        "allOf": [*columns, _columns({}, "log", TABLES["matches"])],
    }


def _columns(given: Schema, key: str, columns: Sequence[Column]) -> Schema:
    """`where` of a signal on this table names its columns."""
    where = _map(**{column.name: _condition(column) for column in columns})
    return {"if": {"required": [key], "properties": given}, "then": {"properties": {"where": where}}}


def _condition(column: Column) -> Schema:
    return {"description": column.meaning, "$ref": f"#/$defs/{column.type}"}


def _test(type_: str) -> Schema:
    """What a column of this type can be compared with: a value, several, or operators and operands."""
    value: Schema = {"type": _TYPES[type_]}
    values: Schema = {"anyOf": [value, {"type": "array", "minItems": 1, "items": value}]}
    version: Schema = {"type": "string", "pattern": VERSION}
    operand: Mapping[str, Schema] = {
        "known": {"type": "boolean"},
        "contains": values,
        "matches": {"type": "string", "format": "regex"},
        "not": values,
        "since": version,
        "before": version,
    }
    tests = _map(**{name: operand.get(name, value) for name in operators(type_)})
    return {"anyOf": [*values["anyOf"], {**tests, "minProperties": 1}]}


def _log() -> Schema:
    literal = {"type": "string", "minLength": SHORTEST_LITERAL}
    return _map(
        "any_of",
        "example",
        any_of={"anyOf": [literal, {"type": "array", "minItems": 1, "items": literal}]},
        regex=_TEXT,
        levels={"type": "array", "items": _one_of(LEVELS)},
        example={"type": "string", "description": "a line that the pattern matches"},
    )


def _case() -> Schema:
    workers = {"type": "array", "items": {"type": "string", "pattern": WORKER}}
    case = _map(
        "name",
        "origin",
        "expect",
        name=_TEXT,
        origin={"type": "string", "description": "a recorded run, or the source that the words are from"},
        given={"type": "object", "additionalProperties": _TEXT, "description": "file name to contents"},
        run={"type": "string", "description": "instead of `given`: a recorded run"},
        expect=_map("fires", fires={"type": "boolean"}, culprits=workers, suspects=workers),
    )
    return {**case, "oneOf": [{"required": ["given"]}, {"required": ["run"]}]}


def _map(*required: str, **properties: Schema) -> Schema:
    """A mapping with these keys and no others; some of them are required."""
    made = {"type": "object", "additionalProperties": False, "properties": properties}
    return {**made, "required": list(required)} if required else made


def _one_of(values: Sequence[str]) -> Schema:
    return {"enum": list(values)}


def _by_signal() -> Schema:
    return {"type": "object", "additionalProperties": _SHARE}
