"""Known messages of other programs: TensorFlow, gRPC, Python, launchers.

They are defined in `rules/messages/`; `docs/messages.md` explains each of `STATES` to authors.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from analyzer.model.task_names import DEVICE


class Statement(NamedTuple):
    """One kind of statement; `words` are the values that `as` may have, in the order they are tried."""

    meaning: str
    words: Sequence[str] = ()


STATES: Mapping[str, Statement] = MappingProxyType(
    {
        "fact": Statement(
            "announces facts: each named group is one; without `regex`, the key that `as` names is `yes`"
        ),
        "peer": Statement(
            "names a peer as lost, by `{task}`, a group `tasks`, `ranks` or `address`; `leader` needs none",
            ("heartbeat", "down", "restarted", "leader", "unresolved", "transport", "missing"),
        ),
        "remote_target": Statement("names the peer to which a call failed, by `{task}`; a `reason` says how"),
        "wraps_status": Statement("what follows is the status in which it began"),
        "reason": Statement(
            "says why a call failed", ("leader", "unresolved", "transport", "deadline", "cancelled")
        ),
        "passed_on": Statement("an exception that holds it only passes on what befell another worker"),
        "of_launcher": Statement(
            "a launcher raised an exception that holds it, about the program that it ran"
        ),
        "met_itself": Statement(
            "an exception that holds it befell this worker, whatever it says of connections"
        ),
        "broken_connection": Statement(
            "types of exceptions that say that the other end of a connection is gone; they are not the"
            " worker's own where another worker, or the job, was ended from outside"
        ),
        "not_own": Statement("types of exceptions that are never the fault of the user's code"),
        "runtime": Statement(
            "an exception whose last line matches says only what TensorFlow or a device met"
        ),
        "raised_in": Statement(
            "a traceback that holds it came through this part of a program",
            ("import", "input", "restore", "save", "strategy", "callback", "collective"),
        ),
        "continues": Statement("a line that begins so belongs to the record before it, if that has a prefix"),
        "continues_status": Statement("a line of an error status begins so; the line before is its head"),
        "chains_traceback": Statement("a line between two tracebacks of a chain begins so"),
        "dumps_threads": Statement("a line in a dump of threads begins so"),
        "startup_origin": Statement("source files whose records are part of starting up"),
        "startup_words": Statement("a record that holds it is part of starting up"),
        "done": Statement("a script's line, behind its last step, that says that it is done"),
        "training_done": Statement("a script's line that says that the training itself is done"),
        "not_done": Statement("a line that holds it says no such thing"),
    }
)


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

    def literals(self, states: str, detail: str | None = None) -> tuple[str, ...]:
        """Return the fixed words of all messages with this statement."""
        return tuple(literal for each in self.stating(states, detail) for literal in each.literals)

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
