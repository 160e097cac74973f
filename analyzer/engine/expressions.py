"""Parses `when`: signal names, `and`, `or`, `not`, parentheses. Expressions are never run as code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

_WORD = re.compile(r"\s*(?:(?P<name>[a-z_][a-z0-9_]*)|(?P<mark>[()]))")


class Expression(NamedTuple):
    """A parsed `when`: `and`, `or` or `not` of `parts`, or the signal `name`."""

    operator: str
    name: str = ""
    parts: tuple[Expression, ...] = ()

    def holds(self, truth: Mapping[str, bool]) -> bool:
        """Return the value of the expression; `truth` is signal → value."""
        if self.operator == "signal":
            return truth[self.name]
        values = (part.holds(truth) for part in self.parts)
        if self.operator == "not":
            return not next(values)
        return all(values) if self.operator == "and" else any(values)

    def supporting(self, truth: Mapping[str, bool]) -> frozenset[str]:
        """Return the true signals, outside `not`, that make the expression true; empty if it is false."""
        if self.operator == "not" or not self.holds(truth):
            return frozenset()
        if self.operator == "signal":
            return frozenset({self.name})
        return frozenset().union(*(part.supporting(truth) for part in self.parts))

    def missed(self, truth: Mapping[str, bool]) -> list[str]:
        """Return the false signals each of which, if true, would make the expression true."""
        return [name for name in sorted(self.wanted) if not truth[name] and self.holds({**truth, name: True})]

    @property
    def names(self) -> frozenset[str]:
        """Return the signals that the expression names."""
        own = {self.name} if self.operator == "signal" else ()
        return frozenset(own).union(*(part.names for part in self.parts))

    @property
    def wanted(self) -> frozenset[str]:
        """Return the signals that the expression names outside `not`."""
        if self.operator == "not":
            return frozenset()
        return self.names if self.operator == "signal" else frozenset().union(*(p.wanted for p in self.parts))


def parse(text: str) -> Expression:
    """Parse an expression.

    Raises:
        ValueError: the syntax is invalid; the message states where.
    """
    words = _words(text)
    try:
        expression = _chain(words, "or")
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if words:
        raise ValueError(f"`{words[0]}` is not expected in `{text.strip()}`")
    return expression


def _words(text: str) -> list[str]:
    words, at = [], 0
    while at < len(text.rstrip()):
        match = _WORD.match(text, at)
        if not match:
            raise ValueError(
                f"`{text[at:].strip()[:20]}` is neither a signal nor and, or, not (lowercase), ( or )"
            )
        words.append(match["name"] or match["mark"])
        at = match.end()
    return words


def _chain(words: list[str], operator: str) -> Expression:
    """Parse operands joined by `and` or `or`, and remove their words from the list."""
    parts = [_chain(words, "and") if operator == "or" else _one(words)]
    while words and words[0] == operator:
        words.pop(0)
        parts.append(_chain(words, "and") if operator == "or" else _one(words))
    return parts[0] if len(parts) == 1 else Expression(operator, parts=tuple(parts))


def _one(words: list[str]) -> Expression:
    """Parse a signal, a negation or a parenthesis, and remove its words from the list."""
    word = words.pop(0) if words else ""
    if word == "not":
        return Expression("not", parts=(_one(words),))
    if word == "(":
        inside = _chain(words, "or")
        if not words or words.pop(0) != ")":
            raise ValueError("a parenthesis is not closed")
        return inside
    if not word or word in {")", "and", "or"}:
        raise ValueError("a signal is missing" + (f" before `{word}`" if word else " at the end"))
    return Expression("signal", word)
