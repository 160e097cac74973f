"""Loads message files from `messages/`; each message is tested with its own example."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import regex

from analyzer.engine.loading.schemas import file_schema
from analyzer.model.messages import STATES, Message, Messages, expression
from analyzer.storage.yaml_document import Document

FOLDER = "messages"
"""Name of the folder of message files in a directory of rules."""
_SHORTEST_FACT = 3
"""Minimum length of the fixed words of a fact; every log is searched for these."""


def messages(documents: Iterable[Document]) -> Messages:
    """Return the messages that the documents declare; faults are added to the documents."""
    return Messages(tuple(message for document in documents for message in _of_file(document)))


def _of_file(document: Document) -> list[Message]:
    if not document.check(file_schema("message")):
        return []
    family = document.file.rsplit("/", 1)[-1].removesuffix(".yaml")
    return [_message(document, family, name, body) for name, body in document.data[FOLDER].items()]


def _message(document: Document, family: str, name: str, body: Mapping[str, Any]) -> Message:
    literals = body["any_of"] if isinstance(body["any_of"], list) else [body["any_of"]]
    message = Message(
        f"{family}/{name}",
        body["states"],
        tuple(literals),
        body.get("regex"),
        body.get("as", ""),
        body.get("in_errors", True),
        body.get("starts_process", False),
    )
    for key, fault in _faults(message, body):
        document.fault((FOLDER, name, key), fault)
    return message


def _faults(message: Message, body: Mapping[str, object]) -> Iterable[tuple[str, str]]:
    ways = STATES[message.states].words
    if ways and message.detail not in ways:
        yield "as", f"`as` of a message that states `{message.states}` is one of {', '.join(ways)}"
    if message.states == "fact" and not re.fullmatch(r"[a-z_]+", message.detail):
        yield "as", "`as` names the key of the fact"
    if message.states == "fact" and min(map(len, message.literals)) < _SHORTEST_FACT:
        yield "any_of", f"the fixed words of a fact have {_SHORTEST_FACT} characters or more"
    example = str(body["example"])
    holds = any(literal.lower() in example.lower() for literal in message.literals)
    searched = message.regex and expression(message.literals, message.regex)
    if fault := example_fault(example, searched, holds=holds):
        yield fault


def example_fault(example: str, searched: str | None, *, holds: bool) -> tuple[str, str] | None:
    """Return (key, fault) if a message does not match its example, else None.

    `searched` is its regex, if it has one; `holds` is True if the example contains one of its fixed words.
    """
    if not holds:
        return "example", "the example holds none of `any_of`"
    try:
        found = searched is None or regex.search(searched, example, regex.DOTALL, timeout=1.0)
    except regex.error as error:
        return "regex", f"invalid regex: {error}"
    except TimeoutError:
        return "regex", "`regex` takes more than a second on its own example"
    return None if found else ("example", "the example is not matched by `regex`")
