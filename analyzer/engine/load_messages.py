"""Files of `messages/` below a directory of rules → messages, each proved by its own example."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import regex

from analyzer.engine.document import Document
from analyzer.engine.message_schema import keys, needed
from analyzer.model.messages import STATES, Message, Messages, expression

FOLDER = "messages"
"""The folder of a directory of rules that holds them."""
_FILE, _MESSAGE = keys("file"), keys("message")
_FILE_NEEDS, _MESSAGE_NEEDS = needed("file"), needed("message")
_SHORTEST_FACT = 3
"""Characters; every byte of a log is searched for the fixed words of a fact."""
_VERSIONS = re.compile(r"any|\d+\.\d+(?:\+|(?: - \d+\.\d+)?)")


def messages(documents: Iterable[Document]) -> Messages:
    """The messages that some files describe; faults are noted in their documents."""
    return Messages(tuple(message for document in documents for message in _of_file(document)))


def _of_file(document: Document) -> list[Message]:
    data = document.data
    if not data or not document.only((), data, _FILE) or not document.has((), data, _FILE_NEEDS):
        return []
    family = document.file.rsplit("/", 1)[-1].removesuffix(".yaml")
    described = document.map_at((FOLDER,), data[FOLDER])
    made = [_message(document, family, name, body) for name, body in described.items()]
    return [message for message in made if message]


def _message(document: Document, family: str, name: str, body: object) -> Message | None:
    path = (FOLDER, name)
    if not isinstance(body, dict) or not document.only(path, body, _MESSAGE):
        document.is_map(path, body)
        return None
    if not document.has(path, body, _MESSAGE_NEEDS):
        return None
    literals = body["any_of"] if isinstance(body["any_of"], list) else [body["any_of"]]
    message = Message(
        f"{family}/{name}",
        document.one_of((*path, "states"), body["states"], tuple(STATES)),
        tuple(map(str, literals)),
        None if body.get("regex") is None else str(body["regex"]),
        str(body.get("as", "")),
        body.get("in_errors", True) is True,
        body.get("starts_process", False) is True,
    )
    for key, fault in _faults(message, body):
        document.fault((*path, key), fault)
    return message


def _faults(message: Message, body: Mapping[str, object]) -> Iterable[tuple[str, str]]:
    ways = STATES[message.states]
    if ways and message.detail not in ways:
        yield "as", f"`as` of a message that states `{message.states}` is one of {', '.join(ways)}"
    if message.states == "fact" and not re.fullmatch(r"[a-z_]+", message.detail):
        yield "as", "`as` names the key of the fact"
    if message.states == "fact" and min(map(len, message.literals)) < _SHORTEST_FACT:
        yield "any_of", f"the fixed words of a fact have {_SHORTEST_FACT} characters or more"
    if not _VERSIONS.fullmatch(str(body["versions"])):
        yield "versions", "`versions` is `any`, or like `2.8`, `2.8+` or `2.4 - 2.8`"
    if fault := _example_fault(message.literals, message.regex, str(body["example"])):
        yield "example", fault


def _example_fault(literals: Sequence[str], own: str | None, example: str) -> str:
    """How a message does not match the line that is to show it; empty if it does."""
    if not any(literal.lower() in example.lower() for literal in literals):
        return "the example holds none of `any_of`"
    try:
        found = regex.search(expression(literals, own), example, regex.DOTALL, timeout=1.0)
    except (regex.error, TimeoutError) as error:
        return f"invalid regex: {error or 'it takes more than a second on its own example'}"
    return "" if own is None or found else "the example is not matched by `regex`"
