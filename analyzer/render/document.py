"""Renders a diagnosis as canonical JSON: equal diagnoses give equal bytes."""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from io import StringIO
from json.encoder import encode_basestring
from typing import Any

from analyzer.render.formatting import worker_key
from analyzer.storage.package_files import resource

Schema = Mapping[str, Any]
Write = Callable[[str], Any]
_LEAVES = frozenset({str, int, float, bool, type(None)})
"""Scalar types, tested first because most values are scalars."""
_LISTS = (list, tuple)
_NUMBERS = frozenset({int, float, type(None)})
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_TEXT_OF: Mapping[type, Callable[[Any], str]] = {
    str: encode_basestring,
    int: repr,
    bool: {True: "true", False: "false"}.__getitem__,
    type(None): {None: "null"}.__getitem__,
}
"""Scalar type → function that returns its JSON text, in a tenth of the time of an encoder."""


def render(diagnosis: Mapping[str, Any]) -> str:
    """Return the document as JSON text with its keys in the order of the schema.

    Raises:
        ValueError: a number is NaN or infinite, which JSON cannot express.
    """
    out = StringIO()
    _write(out.write, diagnosis, _schema(), "\n")
    out.write("\n")
    return out.getvalue()


def _write(write: Write, value: Any, schema: Schema, line: str) -> None:  # noqa: ANN401  (JSON)
    """Write the JSON text of a value, lists of numbers on one line; `line` is a line break with indent.

    Piece by piece: an ordered copy of the document and the texts of its parts would be several times as big.
    """
    if text_of := _TEXT_OF.get(type(value)):
        write(text_of(value))
        return
    in_braces = isinstance(value, dict)
    if not value or not (in_braces or (isinstance(value, _LISTS) and not {*map(type, value)} <= _NUMBERS)):
        write(_ENCODER.encode(value))
        return
    deeper = f"{line}  "
    before = deeper
    opening, closing = "{}" if in_braces else "[]"
    write(opening)
    if in_braces:
        for key, item, of_item in _in_order(value, schema):
            write(f"{before}{encode_basestring(key)}: ")
            _write(write, item, of_item, deeper)
            before = f",{deeper}"
    else:
        items: Schema = _definition(schema).get("items", {})
        for item in value:
            write(before)
            _write(write, item, items, deeper)
            before = f",{deeper}"
    write(f"{line}{closing}")


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
        named = _in_order(value, schema)
        return {k: v if type(v) in _LEAVES else _in_schema_order(v, of_v) for k, v, of_v in named}
    if isinstance(value, _LISTS):
        items: Schema = _definition(schema).get("items", {})
        if "prefixItems" in items:  # thousands of rows of scalars, without keys
            return value
        return [item if type(item) in _LEAVES else _in_schema_order(item, items) for item in value]
    return value


def _in_order(value: Mapping[str, Any], schema: Schema) -> Iterator[tuple[str, Any, Schema]]:
    """Yield each key of an object with its value and the schema of that, in the order of the schema."""
    known: Schema = _definition(schema).get("properties", {})
    rest = sorted([key for key in value if key not in known], key=worker_key)
    return ((key, value[key], known.get(key, {})) for key in (*known, *rest) if key in value)


def _definition(schema: Schema) -> Schema:
    name = schema.get("$ref", "").removeprefix("#/$defs/")
    definition: Schema = _schema()["$defs"][name] if name else schema
    return definition
