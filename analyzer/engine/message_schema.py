"""The shape of a file of messages as a JSON Schema, for editors and for `load_messages`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analyzer.model.messages import MEANINGS, STATES

Schema = dict[str, Any]
_TEXT: Schema = {"type": "string", "minLength": 1}


def message_schema() -> Schema:
    """JSON Schema (2020-12) of `rules/messages/<program>-<family>.yaml`."""
    parts = _parts()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A family of messages, for mwms-analyze",
        **parts["file"],
        "$defs": {"message": parts["message"]},
    }


def keys(part: str) -> Sequence[str]:
    """Return the keys that a `file` or a `message` may have."""
    return tuple(_parts()[part]["properties"])


def needed(part: str) -> Sequence[str]:
    """Return the keys that a `file` or a `message` must have."""
    return tuple(_parts()[part]["required"])


def _parts() -> Mapping[str, Schema]:
    every: Schema = {"type": "object", "additionalProperties": {"$ref": "#/$defs/message"}}
    return {
        "file": _map(
            ("program", "family", "messages"),
            program={**_TEXT, "description": "who prints them"},
            family={**_TEXT, "description": "what they are about"},
            messages=every,
        ),
        "message": _message(),
    }


def _message() -> Schema:
    words = {"anyOf": [_TEXT, {"type": "array", "minItems": 1, "items": _TEXT}]}
    return _map(
        ("states", "any_of", "versions", "example", "source"),
        states={"anyOf": [{"const": name, "description": MEANINGS[name]} for name in STATES]},
        **{"as": {**_TEXT, "description": "how, by which word, or the key of a fact"}},
        any_of={**words, "description": "fixed words, one of which every such line holds"},
        regex={**_TEXT, "description": "`{task}` stands for a task such as /job:worker/replica:0/task:1"},
        in_errors={"type": "boolean"},
        starts_process={"type": "boolean"},
        versions={**_TEXT, "description": "of the program: any, 2.8, 2.8+ or 2.4 - 2.8"},
        example={**_TEXT, "description": "a line, or several, that the message matches"},
        source={**_TEXT, "description": "the source file or the public thread that shows it"},
    )


def _map(required: Sequence[str], **properties: Schema) -> Schema:
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
        "required": list(required),
    }
