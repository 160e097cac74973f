"""`when`: names of signals, `and`, `or`, `not`, parentheses. Parsed here, never evaluated as code."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_TOKEN = re.compile(r"\s*(?:(?P<name>[a-z_][a-z0-9_]*)|(?P<mark>[()]))")


@dataclass(frozen=True, slots=True)
class Expression:
    """A tree: `and`/`or`/`not` over `parts`, or a leaf that names a signal."""

    operator: str
    name: str = ""
    parts: tuple[Expression, ...] = ()

    def holds(self, truth: Mapping[str, bool]) -> bool:
        """Its value, given that of each signal."""
        if self.operator == "signal":
            return truth[self.name]
        values = (part.holds(truth) for part in self.parts)
        if self.operator == "not":
            return not next(values)
        return all(values) if self.operator == "and" else any(values)

    @property
    def names(self) -> frozenset[str]:
        """The signals that it names."""
        return frozenset({self.name}) if self.operator == "signal" else frozenset().union(*(p.names for p in self.parts))

    @property
    def wanted(self) -> frozenset[str]:
        """The signals that it asks for; those under `not` left out."""
        if self.operator == "not":
            return frozenset()
        return self.names if self.operator == "signal" else frozenset().union(*(p.wanted for p in self.parts))


def parse(text: str) -> Expression:
    """The expression that a text spells.

    Raises:
        ValueError: it cannot be read; the text says where.
    """
    tokens = _tokens(text)
    expression = _chain(tokens, "or")
    if tokens:
        raise ValueError(f"`{tokens[0]}` is not expected in `{text.strip()}`")
    return expression


def _tokens(text: str) -> list[str]:
    tokens, at = [], 0
    while at < len(text.rstrip()):
        match = _TOKEN.match(text, at)
        if not match:
            raise ValueError(f"`{text[at:].strip()[:20]}` is neither a signal nor and, or, not, ( or )")
        tokens.append(match["name"] or match["mark"])
        at = match.end()
    return tokens


def _chain(tokens: list[str], operator: str) -> Expression:
    inner: Callable[[], Expression] = (lambda: _chain(tokens, "and")) if operator == "or" else (lambda: _one(tokens))
    parts = [inner()]
    while tokens and tokens[0] == operator:
        tokens.pop(0)
        parts.append(inner())
    return parts[0] if len(parts) == 1 else Expression(operator, parts=tuple(parts))


def _one(tokens: list[str]) -> Expression:
    token = tokens.pop(0) if tokens else ""
    if token == "not":
        return Expression("not", parts=(_one(tokens),))
    if token == "(":
        inside = _chain(tokens, "or")
        if not tokens or tokens.pop(0) != ")":
            raise ValueError("a parenthesis is not closed")
        return inside
    if not token or token in {")", "and", "or"}:
        raise ValueError("a signal is missing" + (f" before `{token}`" if token else " at the end"))
    return Expression("signal", token)
