"""JSON Schema of message files, for editors and for `load_messages`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from analyzer.model.messages import MEANINGS, STATES

Schema = dict[str, Any]
_TEXT: Schema = {"type": "string", "minLength": 1}
VERSIONS = r"^(?:any|\d+\.\d+(?:\+| - \d+\.\d+)?)$"
"""How the versions of a program are spelled."""


@cache
def message_schema() -> Schema:
    """Return the JSON Schema (2020-12) of `rules/messages/<program>-<family>.yaml`."""
    file = _map(
        ("program", "family", "messages"),
        program={**_TEXT, "description": "who prints them"},
        family={**_TEXT, "description": "what they are about"},
        messages={"type": "object", "additionalProperties": {"$ref": "#/$defs/message"}},
    )
    heading = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return {**heading, **file, "title": "key of a file of messages", "$defs": {"message": _message()}}


def _message() -> Schema:
    words = {"anyOf": [_TEXT, {"type": "array", "minItems": 1, "items": _TEXT}]}
    meanings = "; ".join(f"{name}: {MEANINGS[name]}" for name in STATES)
    return _map(
        ("states", "any_of", "versions", "example", "source"),
        states={"enum": list(STATES), "title": "statement", "description": meanings},
        **{"as": {**_TEXT, "description": "how, by which word, or the key of a fact"}},
        any_of={**words, "description": "fixed words, one of which every such line holds"},
        regex={**_TEXT, "description": "`{task}` stands for a task such as /job:worker/replica:0/task:1"},
        in_errors={"type": "boolean"},
        starts_process={"type": "boolean"},
        versions={**_TEXT, "pattern": VERSIONS, "title": "`any`, `2.8`, `2.8+` or `2.4 - 2.8`"},
        example={**_TEXT, "description": "a line, or several, that the message matches"},
        source={**_TEXT, "description": "the source file or the public thread that shows it"},
    )


def _map(required: Sequence[str], **properties: Schema) -> Schema:
    return {
        "type": "object",
        "title": "key of a message",
        "additionalProperties": False,
        "properties": properties,
        "required": list(required),
    }
