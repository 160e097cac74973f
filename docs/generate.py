"""Writes the documents that follow from the code; `pytest tests/docs` checks that they are current."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from analyzer.engine import pages
from analyzer.engine.load import load
from analyzer.engine.rule_schema import rule_schema
from analyzer.schema import READ, TABLES

HERE = Path(__file__).resolve().parent
RULES = HERE.parent / "rules"


def tables() -> str:
    """The tables that rules look at, with every column."""
    return "\n".join([*_opening(), *(line for name in TABLES for line in _table(name))]) + "\n"


def _opening() -> Iterator[str]:
    yield "# Tables"
    yield ""
    yield "Generated from `analyzer/schema.py` by `python docs/generate.py`."
    yield 'Times are seconds since 1970-01-01 UTC. An empty cell says that the files do not tell, never "no".'
    yield ""


def _table(name: str) -> Iterator[str]:
    yield f"## {name}"
    yield ""
    yield "Read from the files." if name in READ else "Derived from other tables."
    yield ""
    yield "| column | type | meaning |"
    yield "|---|---|---|"
    for column in TABLES[name]:
        yield f"| `{column.name}` | {column.type} | {column.meaning} |"
    yield ""


def catalogue() -> str:
    """All rules by family, in a few lines each."""
    return pages.catalogue(load([RULES]))


def schema() -> str:
    """The JSON Schema of a rule file, for editors."""
    return json.dumps(rule_schema(), indent=1) + "\n"


DOCUMENTS = {
    HERE / "tables.md": tables,
    RULES / "README.md": catalogue,
    RULES / "rule.schema.json": schema,
}

if __name__ == "__main__":
    for path, make in DOCUMENTS.items():
        path.write_text(make(), encoding="utf-8")
