"""A YAML file checked by a JSON Schema. Faults are collected with file and line, not raised.

Only plain scalars, lists and mappings are built: no tags, no anchors that build objects, no code.
A schema's `title` is the noun of its messages: `` `sygnal` is no column of lifetimes ``.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from json import dumps
from pathlib import Path as File
from typing import Any

import yaml
from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.validators import extend

from analyzer.model.errors import MAX_LISTED, did_you_mean

Path = tuple[str | int, ...]
Schema = Mapping[str, Any]
_Error = Any
"""A ValidationError of jsonschema, which does not type its parts."""

_SCALARS: Mapping[str, Callable[[str], object]] = {
    "null": lambda _: None,
    "bool": lambda text: text.lower() in {"true", "yes", "on"},
    "int": lambda text: int(text.replace("_", ""), 0),
    "float": float,
    "str": str,
    "timestamp": str,
}
_TYPES: Mapping[str, str] = {
    "object": "a mapping",
    "array": "a list",
    "string": "a text",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
}
_PROBLEMS = {
    "tab character": "indent with spaces: YAML allows no tab",
    "cannot start any token": "put the text in quotes: YAML reads no text here",
    "mapping values are not allowed": "put a text with `: ` in quotes, or indent this line as its neighbours",
    "expected <block end>": "indent this line as its neighbours",
    "did not find expected key": "indent this line as its neighbours",
    "did not find expected '-' indicator": "indent this line as its neighbours",
    "while scanning a quoted": "close the quotes",
    "unknown escape character": "put a text with `\\`, such as a regex, in single quotes",
    "unexpected end of stream": "close the quotes or the bracket: the file ends within",
}
"""Part of a message of YAML's parser → what to do about it."""
_AFTER_BRACKET = re.compile(r"\s*(?:- +)?(?:[\w.-]+: +)?(?P<opens>[{\[])[^{}\[\]]*[}\]] *[^\s,:#}\]]")
"""Regex for a line whose value begins with a bracket, as a list or a mapping does, and goes on behind it."""
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""PyYAML's safe loader, in C if libyaml is there."""


def _if(validator: Any, condition: Schema, instance: Any, schema: Schema) -> Iterator[_Error]:  # noqa: ANN401
    """Yield the errors of `if`; where a constant differs, as for all tables but a signal's own, at once."""
    asked = condition.get("properties", {}).items() if isinstance(instance, dict) else ()
    if any("const" in each and key in instance and instance[key] != each["const"] for key, each in asked):
        yield from validator.descend(instance, schema.get("else", True), schema_path="else")
    else:
        yield from Draft202012Validator.VALIDATORS["if"](validator, condition, instance, schema)


_Validator = extend(Draft202012Validator, {"if": _if})  # type: ignore[no-untyped-call]


@dataclass(slots=True)
class Document:
    """The contents of a file. `lines` maps a path into it, like `("signals", "died")`, to its line."""

    file: str
    data: dict[str, Any] = field(default_factory=dict)
    lines: dict[Path, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    spelled: dict[Path, str] = field(default_factory=dict)
    """Path → the word of the file that YAML reads as true or false, such as `no`."""

    def fault(self, path: Path, what: str) -> None:
        """Add a fault, with the line of `path` or of the nearest enclosing part with a known line."""
        enclosing = (path[:end] for end in range(len(path), -1, -1))
        line = next((self.lines[each] for each in enclosing if each in self.lines), 1)
        self.faults.append(f"{self.file}:{line}: {what}")

    def known(self, path: Path, name: str, names: Iterable[str], noun: str) -> bool:
        """Return True if `name` is among `names`; else add a fault that suggests similar names."""
        names = set(names)
        if name not in names:
            self.fault(path, f"`{name}` is no {noun}{did_you_mean(name, names)}")
        return name in names

    def check(self, schema: Schema, path: Path = ()) -> bool:
        """Return True if the part at `path` is valid by the schema; else add each fault.

        A file that could not be parsed gets no further fault.
        """
        if self.faults and not self.data:
            return False
        part: Any = self.data
        for key in path:
            part = part[key]
        before = len(self.faults)
        validator = _Validator(schema, format_checker=FormatChecker(["regex"]))
        for error in sorted(validator.iter_errors(part), key=lambda each: list(map(str, each.path))):
            for inner, what in _faults(error):
                self.fault((*path, *inner), self._as_spelled((*path, *inner), what))
        return len(self.faults) == before

    def _as_spelled(self, path: Path, what: str) -> str:
        """Return a message that quotes a boolean as the file spells it, e.g. `on`, and how YAML reads it."""
        if path not in self.spelled:
            return what
        word = self.spelled[path]
        value = str(_SCALARS["bool"](word)).lower()
        return what.replace(f"`{value}`", f"`{word}`, which YAML reads as {value},")


def in_order(documents: Sequence[Document]) -> list[str]:
    """Return the faults of documents, each once: in the order of the files, in each in the order of lines."""
    files = {document.file: number for number, document in enumerate(reversed(documents))}
    placed = {
        fault: (-files[document.file], int(fault[len(document.file) + 1 :].partition(":")[0]))
        for document in documents
        for fault in document.faults
    }
    return sorted(placed, key=placed.__getitem__)


def read(path: File, name: str) -> Document:
    """Read a YAML file; if it cannot be read or parsed, the document is empty and has a fault."""
    document = Document(name)
    text = ""
    try:
        text = path.read_text(encoding="utf-8")
        root = yaml.compose(text, Loader=LOADER)
        data = _build(document, root, (), set()) if root else None
    except (OSError, UnicodeDecodeError) as error:
        document.fault((), f"cannot be read: {error}")
    except yaml.YAMLError as error:
        _add_syntax_fault(document, text, error)
    except RecursionError:
        document.fault((), "is nested too deeply to be read")
    else:
        if isinstance(data, dict):
            document.data = data
        else:
            document.fault((), "is to be a mapping" if root else "is empty")
    return document


def _add_syntax_fault(document: Document, text: str, error: yaml.YAMLError) -> None:
    """Add the fault of a text that is not valid YAML, with the line to correct."""
    mark = getattr(error, "problem_mark", None)
    opened = _open_quotes_line(text, mark.line) if mark else None
    if mark and opened is not None:
        document.lines[()] = opened + 1
        document.fault((), f"close the quotes: the text that begins here goes on to line {mark.line + 1}")
        return
    document.lines[()] = mark.line + 1 if mark else 1
    lines = text.splitlines()
    if mark and mark.line < len(lines) and (found := _AFTER_BRACKET.match(lines[mark.line])):
        document.fault((), f"put the text in quotes: without them, `{found['opens']}` begins no text")
        return
    tab = "tab character: " if mark and text[mark.index : mark.index + 1] == "\t" else ""
    document.fault((), _in_words(f"{tab}{getattr(error, 'problem', None) or error}"))


def _open_quotes_line(text: str, line: int) -> int | None:
    """Return the line, from 0, of the opening quotes that most likely are not closed; None without such.

    They open a text of several lines that ends in `line`, where the parser found an error.
    """
    with suppress(yaml.YAMLError):
        for token in yaml.scan(text, Loader=LOADER):
            if isinstance(token, yaml.ScalarToken) and token.start_mark.line < token.end_mark.line == line:
                return int(token.start_mark.line) if token.style in {"'", '"'} else None
    return None


def _in_words(problem: str) -> str:
    """Return what to do about a problem that YAML's parser states in terms of its grammar."""
    return next((words for said, words in _PROBLEMS.items() if said in problem), problem)


def _build(document: Document, node: yaml.Node, path: Path, seen: set[yaml.Node]) -> object:
    """Return the value of a node. An alias may refer to a scalar only: others could contain themselves."""
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
    if tag not in _SCALARS:
        document.fault(path, f"a value of kind `{tag}` is not allowed")
        return None
    if tag == "bool" and node.value.lower() not in {"true", "false"}:
        document.spelled[path] = node.value
    try:
        return _SCALARS[tag](node.value)
    except ValueError:
        document.fault(path, f"`{node.value}` is no number as YAML spells it here; put a text in quotes")
        return None


def _faults(error: _Error) -> Iterator[tuple[Path, str]]:
    """Yield path and plain-language message of each fault behind a validation error."""
    path, kind = tuple(error.absolute_path), str(error.validator)
    if kind in {"anyOf", "oneOf"}:
        yield from _alternatives(error, path)
    elif kind == "additionalProperties":
        allowed = error.schema["properties"]
        for key in sorted(error.instance.keys() - allowed.keys()):
            yield (*path, key), f"`{key}` is no {_noun(error, 'key here')}{did_you_mean(key, allowed)}"
    elif kind == "required":
        yield path, f"`{_missing(error)}` is missing"
    else:
        yield path, _message(error, kind)


def _message(error: _Error, kind: str) -> str:
    """Return the sentence for a validation error of one keyword of JSON Schema, such as `enum` or `type`."""
    value, limit = _shown(error.instance), error.validator_value
    if kind == "enum":
        return f"`{value}` is no {_noun(error, 'word known here')}{did_you_mean(value, map(str, limit))}"
    if kind == "type":
        keys = "".join(f" with `{key}`" for key in error.schema.get("required", ()))
        described = error.schema.get("description") if limit == "string" else None
        form = f": {described}" if described else ""
        return f"{_key(error)}is to be {_TYPES[limit]}{keys}{form}, not {_given(error.instance, {limit})}"
    if kind in {"pattern", "format"}:
        return f"`{value}` is no {_noun(error, f'{limit} text')}"
    if kind in {"minimum", "maximum"}:
        return f"`{value}` is {'less' if kind == 'minimum' else 'more'} than {limit}"
    if kind in {"minItems", "minProperties"}:
        stated = f": {error.schema['description']}" if "description" in error.schema else ""
        return f"{_key(error)}needs {limit} or more entries, not {len(error.instance)}{stated}"
    if kind == "minLength":
        return f"`{value}` is shorter than {limit} characters"
    return f"{_noun(error, 'it')} does not hold: {error.message[:200]}"


def _key(error: _Error) -> str:
    """Return the key of a wrong value and a space; empty for an item of a list and for the whole file."""
    last = error.absolute_path[-1] if error.absolute_path else None
    return f"`{last}` " if isinstance(last, str) else ""


def _alternatives(error: _Error, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the faults of a value that violates `anyOf` or `oneOf`.

    If its type fits an alternative, they are the faults of that alternative; if only a key is missing, the
    fault names each key that would do; if no type fits, it lists the allowed types.
    """
    by_branch = groupby(error.context or (), key=lambda each: each.relative_schema_path[0])
    branches = [list(each) for _, each in by_branch]
    fitting = [each for each in branches if not any(map(_is_of_type, each))]
    if not branches:
        keys = [f"`{each['required'][0]}`" for each in error.validator_value if "required" in each]
        yield path, f"takes {' or '.join(keys)}, and not two of them at once"
    elif not fitting:
        forms = dict.fromkeys(_form(e) for each in branches for e in each if _is_of_type(e))
        types = {e.validator_value for each in branches for e in each if _is_of_type(e)}
        yield path, f"{_key(error)}is to be {' or '.join(forms)}, not {_given(error.instance, types)}"
    elif len(fitting) > 1 and all(e.validator == "required" for each in fitting for e in each):
        yield path, f"{' or '.join(f'`{_missing(each[0])}`' for each in fitting)} is missing"
    else:
        for each in fitting[0]:
            yield from ((inner, what) for inner, what in _faults(each))


def _form(error: _Error) -> str:
    """Return what a value of the wrong type should be: `one of …` if few words are allowed, else its type."""
    words = error.schema.get("enum", ())
    return f"one of {', '.join(words)}" if 0 < len(words) <= MAX_LISTED else _TYPES[error.validator_value]


def _is_of_type(error: _Error) -> bool:
    return error.validator == "type" and not error.relative_path


def _missing(error: _Error) -> str:
    return str(error.message.split("'")[1])


def _noun(error: _Error, otherwise: str) -> str:
    return str(error.schema.get("title", otherwise))


def _given(value: object, types: Collection[str]) -> str:
    """Return a value that is of none of the types; of a number in quotes, how it becomes one."""
    if isinstance(value, str) and {"integer", "number"} & {*types} and _NUMBER.fullmatch(value):
        return f"the text '{value}': write the number without quotes"
    return f"`{_shown(value)}`"


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:60]}…"
