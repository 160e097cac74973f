"""Builds the JSON Schemas of rule files, for `load` and for editors, on top of `rule_files.schema.yaml`.

`validation` checks what a schema cannot: that an example matches its regex, that names exist.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from analyzer.engine.conditions import VERSION, operators
from analyzer.model.findings import LEVELS, Role
from analyzer.model.messages import STATES
from analyzer.model.schema import TABLES, Column
from analyzer.model.source_kinds import Kind
from analyzer.storage.disk_cache import cached_yaml

Schema = dict[str, Any]

_TYPES = {"text": "string", "bool": "boolean", "int": "integer", "number": "number", "time": "number"}
_WORDS: Mapping[str, list[str]] = {
    "levels": [*LEVELS],
    "roles": [role.value for role in Role],
    "source kinds": [kind.value for kind in Kind],
    "statements": [*STATES],
    "tables": [*TABLES],
}
"""Name of an `enum` in `rule_files.schema.yaml` → its values, as defined in the code."""


@cache
def file_schema(kind: str) -> Schema:
    """Return the JSON Schema of a kind of file: `rule`, `message`, `causes`, `pack` or `overlay`."""
    schema: Schema = _with_words(cached_yaml(Path(__file__).with_name("rule_files.schema.yaml"))[kind])
    if kind == "rule":
        keys = schema["properties"]
        keys["variants"]["additionalProperties"]["properties"] = {
            key: keys[key] for key in keys if key not in {"id", "variants"}
        }
        tables = [_columns({"table": {"const": name}}, "table", name) for name in TABLES]
        schema["$defs"]["signal"]["allOf"] = [*tables, _columns({}, "log", "matches")]
        schema["$defs"] |= _tests(TABLES)
    elif kind == "message":
        states = schema["$defs"]["message"]["properties"]["states"]
        states["description"] = "; ".join(f"{name}: {stated.meaning}" for name, stated in STATES.items())
    return schema


@cache
def table_schema(table: str) -> Schema:
    """Return the JSON Schema of conditions on the columns of a table."""
    return {**_where(table), "$defs": _tests([table])}


def _with_words(schema: Any) -> Any:  # noqa: ANN401 - JSON
    """Return a schema in which each named `enum` is replaced by its values from `_WORDS`."""
    if isinstance(schema, list):
        return [_with_words(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _WORDS[value] if key == "enum" and isinstance(value, str) else _with_words(value)
        for key, value in schema.items()
    }


def _columns(given: Schema, key: str, table: str) -> Schema:
    """Return a conditional schema: if a signal has `key` as `given`, its columns are those of the table."""
    who = {"enum": [column.name for column in TABLES[table]], "title": f"column of {table}"}
    then = {"where": _where(table), "who": who}
    return {"if": {"required": [key], "properties": given}, "then": {"properties": then}}


def _where(table: str) -> Schema:
    columns = [
        (column, _vocabulary(table, column) if column.values else column.type) for column in TABLES[table]
    ]
    tests = {
        column.name: {"description": column.meaning, "$ref": f"#/$defs/{test}"} for column, test in columns
    }
    return _map(f"column of {table}", tests)


def _map(noun: str, properties: Schema) -> Schema:
    return {"type": "object", "additionalProperties": False, "properties": properties, "title": noun}


def _vocabulary(table: str, column: Column) -> str:
    """Return the name of the schema of tests on a column with a closed vocabulary."""
    return f"{table}.{column.name}"


def _tests(tables: Iterable[str]) -> dict[str, Schema]:
    """Return the schemas of tests by name: one per column type, one per column with a closed vocabulary."""
    closed = ((table, column) for table in tables for column in TABLES[table] if column.values)
    return {name: _test(name) for name in _TYPES} | {
        _vocabulary(table, column): _test(
            column.type, {"enum": [*column.values], "title": f"value of `{column.name}` of {table}"}
        )
        for table, column in closed
    }


def _test(type_: str, one_of: Schema | None = None) -> Schema:
    """Return the schema of a test on this column type: a value, a list, or operators.

    `one_of` limits the values that it can be equal to.
    """
    value: Schema = {"type": _TYPES[type_]}
    text: Schema = {"anyOf": [value, {"type": "array", "minItems": 1, "items": value}]}
    own_value = {**value, **(one_of or {})}
    values: Schema = {"anyOf": [own_value, {"type": "array", "minItems": 1, "items": own_value}]}
    version: Schema = {"type": "string", "pattern": VERSION, "title": 'version, like "2.11"'}
    operand: Mapping[str, Schema] = {
        "known": {"type": "boolean"},
        "contains": text,
        "matches": {"type": "string", "format": "regex"},
        "not": values,
        "since": version,
        "before": version,
    }
    tests = {name: operand.get(name, value) for name in operators(type_)}
    own = {**_map(f"test of a column of type {type_}", tests), "minProperties": 1}
    return {"anyOf": [*values["anyOf"], own]}
