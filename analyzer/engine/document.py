"""One YAML file, with the line of everything in it, and its faults collected rather than raised.

Only plain scalars, lists and mappings are made: no tags, no anchors that build objects, no code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as File
from typing import Any

import yaml

Path = tuple[str | int, ...]

_MAKERS: Mapping[str, Callable[[str], object]] = {
    "null": lambda _: None,
    "bool": lambda text: text.lower() in {"true", "yes", "on"},
    "int": lambda text: int(text.replace("_", ""), 0),
    "float": float,
    "str": str,
}
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(slots=True)
class Document:
    """The contents of a rule file. `lines` maps a path into it, like `("signals", "died")`, to its line."""

    file: str
    data: dict[str, Any] = field(default_factory=dict)
    lines: dict[Path, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def fault(self, path: Path, what: str) -> None:
        """Note what is wrong at a place; the nearest enclosing line is named."""
        line = next(
            (self.lines[path[:end]] for end in range(len(path), -1, -1) if path[:end] in self.lines), 1
        )
        self.faults.append(f"{self.file}:{line}: {what}")

    def only(self, path: Path, data: Mapping[str, object], allowed: Collection[str]) -> bool:
        """Whether a mapping has no other keys than these."""
        unknown = sorted(data.keys() - set(allowed))
        for key in unknown:
            self.fault((*path, key), f"`{key}` is not known here; there are {', '.join(sorted(allowed))}")
        return not unknown

    def has(self, path: Path, data: Mapping[str, object], needed: Iterable[str]) -> bool:
        """Whether a mapping lacks none of these keys; the first that it lacks is a fault."""
        missing = next((key for key in needed if key not in data), None)
        if missing:
            self.fault(path, f"`{missing}` is missing")
        return not missing

    def one_of(self, path: Path, value: object, allowed: Sequence[str]) -> str:
        """A word of a list; its first where it is none."""
        if value in allowed:
            return str(value)
        self.fault(path, f"`{value}` is none of {', '.join(allowed)}")
        return allowed[0]

    def is_map(self, path: Path, value: object) -> bool:
        """Whether it is a mapping."""
        if isinstance(value, dict):
            return True
        self.fault(path, "is to be a mapping")
        return False

    def map_at(self, path: Path, value: object) -> dict[str, Any]:
        """A mapping that may be left out."""
        return value if value is not None and self.is_map(path, value) else {}  # type: ignore[return-value]

    def list_at(self, path: Path, value: object) -> list[Any]:
        """A list that may be left out."""
        if value is None or isinstance(value, list):
            return value or []
        self.fault(path, "is to be a list")
        return []

    def strings(self, key: str) -> tuple[str, ...]:
        """The texts of a list at the top, which may be left out."""
        value = self.data.get(key) or []
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            return tuple(re.sub(r"\s+", " ", each).strip() for each in value)
        self.fault((key,), f"`{key}` is a list of texts")
        return ()

    def share(self, path: Path, value: object) -> float:
        """A number from 0 to 1; 0 where it is none."""
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
            return float(value)
        self.fault(path, f"`{value}` is no number from 0 to 1")
        return 0.0

    def whole(self, path: Path, value: object) -> int:
        """A whole number from 1 on; 1 where it is none."""
        if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
            return value
        self.fault(path, f"`{value}` is no whole number from 1 on")
        return 1


def read(path: File, name: str) -> Document:
    """A rule file; what cannot be read is a fault of the document."""
    document = Document(name)
    try:
        root = yaml.compose(path.read_text(encoding="utf-8"), Loader=_Loader)
    except (OSError, UnicodeDecodeError) as error:
        document.faults.append(f"{name}:1: cannot be read: {error}")
        return document
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        document.faults.append(
            f"{name}:{mark.line + 1 if mark else 1}: {getattr(error, 'problem', None) or error}"
        )
        return document
    data = _built(document, root) if root else None
    if isinstance(data, dict):
        document.data = data
    else:
        document.faults.append(f"{name}:1: a rule is a mapping")
    return document


def _built(document: Document, root: yaml.Node) -> object:
    try:
        return _build(document, root, (), set())
    except RecursionError:
        document.fault((), "is nested too deeply to be read")
        return {}


def _build(document: Document, node: yaml.Node, path: Path, seen: set[yaml.Node]) -> object:
    """What a node holds; an alias leads to a node that was seen before, perhaps to one that it stands in."""
    document.lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.ScalarNode):
        return _scalar(document, node, path)
    if node in seen:
        document.fault(path, "an alias stands for a text, never for a list or a mapping")
        return None
    seen.add(node)
    if isinstance(node, yaml.MappingNode):
        pairs = _pairs(document, node, path)
        return {key: _build(document, value, (*path, key), seen) for key, value in pairs}
    return [_build(document, value, (*path, index), seen) for index, value in enumerate(node.value)]


def _pairs(document: Document, node: yaml.MappingNode, path: Path) -> Iterator[tuple[str, yaml.Node]]:
    seen: set[str] = set()
    for key_node, value in node.value:
        key = str(key_node.value)
        document.lines[(*path, key)] = key_node.start_mark.line + 1
        if key in seen:
            document.fault((*path, key), f"`{key}` is given twice")
        seen.add(key)
        yield key, value


def _scalar(document: Document, node: yaml.Node, path: Path) -> object:
    tag = node.tag.removeprefix("tag:yaml.org,2002:")
    if tag not in _MAKERS:
        if tag == "timestamp":
            return str(node.value)
        document.fault(path, f"a value of kind `{tag}` is not allowed")
        return None
    try:
        return _MAKERS[tag](node.value)
    except ValueError:
        document.fault(path, f"`{node.value}` is no number as a rule spells it; put a text in quotes")
        return None
