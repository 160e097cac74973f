"""Writes `analyzer/model/contract.py`: the JSON schema of a diagnosis as TypedDicts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SCHEMA = Path(__file__).resolve().parent.parent / "reports" / "diagnosis.schema.json"
SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
WIDTH = 110
"""Columns of a line, as ruff is told."""
HEAD = '''"""The types of `reports/diagnosis.schema.json`; generated from it by `python docs/generate.py`."""

from typing import Any, Literal, NotRequired, TypedDict
'''

Schema = dict[str, Any]


def contract() -> str:
    """Return the module: one class an object of the schema, named by its `title`."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    defined = (part for name, each in schema["$defs"].items() for part in _classes(each, name))
    parts = [*defined, *_classes(schema, "")]
    aliases = [part for part in parts if not part.startswith("class ")]
    classes = [f"\n\n{part}" for part in parts if part.startswith("class ")]
    return "\n".join([HEAD, *aliases, *classes]) + "\n"


def _classes(schema: Schema, path: str) -> Iterator[str]:
    """Yield the classes of a schema that lies at a path of the document, inner ones first."""
    for name, each in schema.get("properties", {}).items():
        yield from _classes(each, f"{path}.{name}".lstrip("."))
    if "items" in schema:
        yield from _classes(schema["items"], f"{path}[]")
    if "properties" in schema:
        yield _class(schema, path)
    elif "title" in schema:
        yield f"{schema['title']} = {_type(schema)}"


def _class(schema: Schema, path: str) -> str:
    required = schema.get("required", [])
    fields = "\n".join(_field(name, each, name in required) for name, each in schema["properties"].items())
    return f'class {_name(schema)}(TypedDict):\n    """{_meaning(schema, path)}"""\n\n{fields}'


def _field(name: str, schema: Schema, required: bool) -> str:
    kind = _type(schema)
    line = f"    {name}: {kind if required else f'NotRequired[{kind}]'}"
    if len(line) <= WIDTH:
        return line
    head, _, values = line.removesuffix("]").partition("[")
    return "\n".join([f"{head}[", *(f"        {value}," for value in values.split(", ")), "    ]"])


def _meaning(schema: Schema, path: str) -> str:
    described = str(schema.get("description", ""))
    return described if 0 < len(described) < WIDTH - 10 else f"The object at `{path}` of the document."


def _name(schema: Schema) -> str:
    return "DiagnosisDocument" if "$id" in schema else str(schema["title"])


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        return _referred(schema["$ref"].rpartition("/")[2])
    if "const" in schema or "enum" in schema:
        return f"Literal[{', '.join(json.dumps(value) for value in schema.get('enum') or [schema['const']])}]"
    if "anyOf" in schema:
        return " | ".join(_type(each) for each in schema["anyOf"])
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return " | ".join(_of_kind(kind, schema) for kind in kinds)


def _of_kind(kind: str, schema: Schema) -> str:
    if kind == "array":
        return f"list[{_type(schema['items']) if 'items' in schema else 'Any'}]"
    if kind == "object" and "properties" in schema:
        return _name(schema)
    if kind == "object":
        return f"dict[str, {_type(schema['additionalProperties'])}]"
    return SCALARS[kind]


def _referred(name: str) -> str:
    definition = json.loads(SCHEMA.read_text(encoding="utf-8"))["$defs"][name]
    return str(definition.get("title") or _type(definition))
