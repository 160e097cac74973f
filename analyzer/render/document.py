"""The diagnosis as canonical JSON: keys in the order of the contract, so equal diagnoses are equal bytes."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from analyzer.render.phrasing import worker_key
from analyzer.storage.package_files import resource

Schema = Mapping[str, Any]
_LEAVES = frozenset({str, int, float, bool, type(None)})
"""Types of which most values are; they are told apart at once, for there are very many."""
_LISTS = (list, tuple)


def render(diagnosis: Mapping[str, Any]) -> str:
    """Render the document; a value that JSON does not have (NaN) is an error, never written."""
    return json.dumps(ordered(diagnosis), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def ordered(diagnosis: Mapping[str, Any]) -> Any:  # noqa: ANN401  (JSON)
    """Return the document with its keys in the order of the contract."""
    return _ordered(diagnosis, _contract())


@cache
def _contract() -> dict[str, Any]:
    text = resource("reports", "diagnosis.schema.json").read_text(encoding="utf-8")
    contract: dict[str, Any] = json.loads(text)
    return contract


def _ordered(value: Any, schema: Schema) -> Any:  # noqa: ANN401
    if isinstance(value, Mapping):
        known: Schema = _resolved(schema).get("properties", {})
        rest = sorted([k for k in value if k not in known], key=worker_key)
        named = [(k, value[k]) for k in (*known, *rest) if k in value]
        return {k: v if type(v) in _LEAVES else _ordered(v, known.get(k, {})) for k, v in named}
    if isinstance(value, _LISTS):
        items: Schema = _resolved(schema).get("items", {})
        if "prefixItems" in items:  # rows of single values, of which there may be thousands: nothing has keys
            return value
        return [item if type(item) in _LEAVES else _ordered(item, items) for item in value]
    return value


def _resolved(schema: Schema) -> Schema:
    name = schema.get("$ref", "").removeprefix("#/$defs/")
    definition: Schema = _contract()["$defs"][name] if name else schema
    return definition
