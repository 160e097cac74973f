"""Known messages of other programs: TensorFlow, gRPC, Python, launchers.

They are defined in `rules/messages/`; `docs/messages.md` explains each of `STATES` to authors.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from analyzer.model.task_names import DEVICE


class StatementKind(NamedTuple):
    """One kind of statement; `words` are the values that `as` may have, in the order they are tried."""

    meaning: str
    words: Sequence[str] = ()


_STATES = json.loads(Path(__file__).with_name("message_states.json").read_text(encoding="utf-8"))
STATES: Mapping[str, StatementKind] = MappingProxyType(
    {name: StatementKind(**kind) for name, kind in _STATES.items()}
)
"""What a message of `rules/messages/` can state."""


class Message(NamedTuple):
    """One message of `rules/messages/`; `id` is `<file>/<name>`.

    A text contains the message when it holds one of `literals` and, where there is a `regex`, that matches
    too. `detail` is the value of `as` in the file.
    """

    id: str
    states: str
    literals: tuple[str, ...]
    regex: str | None = None
    detail: str = ""
    in_errors: bool = True
    """Whether a fact also counts in the record of a warning or an error."""
    starts_process: bool = False
    """Whether processes print this message only while they start up."""

    @property
    def expression(self) -> str:
        """Return a regex of the message, in which each `{task}` has the groups `role` and `index`."""
        return expression(self.literals, self.regex)


class Wording(NamedTuple):
    """Messages to look for in texts; a regex is compiled when a text first holds words of its message."""

    messages: tuple[Message, ...]

    def is_in(self, text: str) -> bool:
        """Return True if a text contains one of the messages."""
        possible = self._possible(text)
        return any(each.regex is None or re.search(each.expression, text) for each in possible)

    def begins(self, text: str) -> bool:
        """Return True if a text begins with one of the messages."""
        return any(re.match(each.expression, text) for each in self._possible(text))

    def matches(self, text: str) -> Iterator[re.Match[str]]:
        """Yield every match, message by message."""
        for each in self._possible(text):
            yield from re.finditer(each.expression, text)

    def _possible(self, text: str) -> Iterator[Message]:
        """Yield the messages with at least one fixed word in the text; `(?i)` messages ignore case."""
        lower = text.lower()
        for each in self.messages:
            free = (each.regex or "").startswith("(?i)")
            if any(word.lower() in lower if free else word in text for word in each.literals):
                yield each


class Messages(NamedTuple):
    """All messages, in the order of their files."""

    known: tuple[Message, ...] = ()

    def stating(self, states: str, detail: str | None = None) -> Iterator[Message]:
        """Yield the messages with this statement."""
        return (each for each in self.known if each.states == states and detail in {None, each.detail})

    def literals(self, states: str) -> tuple[str, ...]:
        """Return the fixed words of all messages with this statement."""
        return tuple(literal for each in self.stating(states) for literal in each.literals)

    def wording(self, states: str, detail: str | None = None) -> Wording:
        """Return the wording of all messages with this statement, to be looked for in texts."""
        return Wording(tuple(self.stating(states, detail)))


NONE = Messages()
"""No messages, for a matcher that only searches for patterns."""
_FLAG = re.compile(r"^\(\?i\)(.*)$", re.DOTALL)


def expression(literals: Sequence[str], regex: str | None) -> str:
    """Return a message's own regex with `{task}` expanded, else one for any of its fixed words."""
    if regex is None:
        return "|".join(map(re.escape, literals))
    return _FLAG.sub(r"(?i:\1)", regex).replace("{task}", DEVICE)
