"""Renders a diagnosis as canonical JSON: equal diagnoses give equal bytes."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from analyzer.render.formatting import worker_key
from analyzer.storage.package_files import resource

Schema = Mapping[str, Any]
_LEAVES = frozenset({str, int, float, bool, type(None)})
"""Scalar types, tested first because most values are scalars."""
_LISTS = (list, tuple)
_NUMBERS = frozenset({int, float, type(None)})
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def render(diagnosis: Mapping[str, Any]) -> str:
    """Return the document as JSON text with its keys in the order of the schema.

    Raises:
        ValueError: a number is NaN or infinite, which JSON cannot express.
    """
    return _text(in_schema_order(diagnosis), "\n") + "\n"


def _text(value: Any, line: str) -> str:  # noqa: ANN401  (JSON)
    """Return the JSON text of a value, lists of numbers on one line; `line` is a line break with indent."""
    in_braces = isinstance(value, dict)
    if not value or not (in_braces or (isinstance(value, _LISTS) and not {*map(type, value)} <= _NUMBERS)):
        return _ENCODER.encode(value)
    deeper = f"{line}  "
    if in_braces:
        parts = [f"{_ENCODER.encode(key)}: {_text(item, deeper)}" for key, item in value.items()]
    else:
        parts = [_text(item, deeper) for item in value]
    opening, closing = "{}" if in_braces else "[]"
    return f"{opening}{deeper}{f',{deeper}'.join(parts)}{line}{closing}"


def in_schema_order(diagnosis: Mapping[str, Any]) -> Any:  # noqa: ANN401  (JSON)
    """Return the document with its keys in the order of the schema, then unknown keys, sorted."""
    return _in_schema_order(diagnosis, _schema())


@cache
def _schema() -> dict[str, Any]:
    text = resource("reports", "diagnosis.schema.json").read_text(encoding="utf-8")
    contract: dict[str, Any] = json.loads(text)
    return contract


def _in_schema_order(value: Any, schema: Schema) -> Any:  # noqa: ANN401
    if not value:
        return value
    if isinstance(value, dict):
        known: Schema = _definition(schema).get("properties", {})
        rest = sorted([k for k in value if k not in known], key=worker_key)
        named = [(k, value[k]) for k in (*known, *rest) if k in value]
        return {k: v if type(v) in _LEAVES else _in_schema_order(v, known.get(k, {})) for k, v in named}
    if isinstance(value, _LISTS):
        items: Schema = _definition(schema).get("items", {})
        if "prefixItems" in items:  # thousands of rows of scalars, without keys
            return value
        return [item if type(item) in _LEAVES else _in_schema_order(item, items) for item in value]
    return value


def _definition(schema: Schema) -> Schema:
    name = schema.get("$ref", "").removeprefix("#/$defs/")
    definition: Schema = _schema()["$defs"][name] if name else schema
    return definition
