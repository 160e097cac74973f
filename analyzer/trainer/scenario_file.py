"""Reads and checks scenario files (YAML); errors name the line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from analyzer.model.errors import UserError
from analyzer.storage.yaml_document import LOADER

if TYPE_CHECKING:
    from pathlib import Path

Check = Callable[[object], str | None]
"""Check of a value; returns None if the value is valid, else what it must be."""

Where = tuple[str, ...]


class ScenarioError(UserError):
    """A scenario is invalid; the text begins with `file:line:` if the line is known."""


def anything(value: object) -> str | None:  # noqa: ARG001 - a check that never objects
    """Accept every value, for keys that are checked elsewhere."""
    return None


def text(value: object) -> str | None:
    """Accept a string that is not blank."""
    return None if isinstance(value, str) and value.strip() else "must be a text"


def flag(value: object) -> str | None:
    """Accept true and false."""
    return None if isinstance(value, bool) else "must be true or false"


def mapping(value: object) -> str | None:
    """Accept `key: value` pairs."""
    return None if isinstance(value, dict) else "must be a mapping"


def whole(least: int) -> Check:
    """Return a check for integers of at least `least`."""
    wanted = f"must be a whole number of at least {least}"
    return lambda value: None if type(value) is int and value >= least else wanted


def one_of(*choices: str) -> Check:
    """Return a check for one of the choices."""
    return lambda value: None if value in choices else f"must be one of: {', '.join(choices)}"


def several(*choices: str) -> Check:
    """Return a check for a list of strings; with choices, each must be one of them."""
    wanted = f"must be a list of: {', '.join(choices) or 'texts'}"

    def fits(one: object) -> bool:
        return isinstance(one, str) and (not choices or one in choices)

    def check(value: object) -> str | None:
        return None if isinstance(value, list) and all(map(fits, value)) else wanted

    return check


@dataclass(frozen=True)
class ScenarioFile:
    """The values of a scenario file, and the line number of every key."""

    path: Path
    values: dict[str, Any]
    lines: dict[Where, int]

    @classmethod
    def read(cls, path: Path) -> ScenarioFile:
        """Read a scenario file; raise ScenarioError unless it holds one mapping."""
        try:
            content = path.read_text()
            node, values = yaml.compose(content, LOADER), yaml.load(content, LOADER)  # noqa: S506 - the safe one
        except OSError as error:
            raise ScenarioError(f"{path}: {error.strerror}") from error
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else 1
            raise ScenarioError(f"{path}:{line}: {error.problem}") from error
        if not isinstance(values, dict):
            raise ScenarioError(f"{path}:1: a scenario is a mapping of keys")
        return cls(path, values, dict(_lines(node, ())))

    def error(self, where: Where, message: str) -> ScenarioError:
        """Return an error that names the line of a key, or of the nearest enclosing key."""
        while where and where not in self.lines:
            where = where[:-1]
        return ScenarioError(f"{self.path}:{self.lines.get(where, 1)}: {message}")

    def check(self, where: Where, keys: Mapping[str, Check], required: Sequence[str]) -> None:
        """Raise ScenarioError for the first key that is unknown, missing or invalid."""
        values = self.values
        for key in where:
            values = values.get(key, {})
        for key, value in values.items():
            if key not in keys:
                raise self.error((*where, str(key)), f"unknown key `{key}`")
            if complaint := keys[key](value):
                raise self.error((*where, key), f"`{key}` {complaint}")
        for key in required:
            if key not in values:
                raise self.error(where, f"key `{key}` is missing")


def _lines(node: yaml.Node | None, where: Where) -> list[tuple[Where, int]]:
    if not isinstance(node, yaml.MappingNode):
        return []
    found = []
    for key, value in node.value:
        here = (*where, str(key.value))
        found += [(here, key.start_mark.line + 1), *_lines(value, here)]
    return found
