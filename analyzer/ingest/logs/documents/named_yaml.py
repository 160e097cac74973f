"""YAML with whole logs: a mapping from names to lists of lines or to a text, or a list of lines."""

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

from analyzer.ingest.logs.documents import TextLine
from analyzer.ingest.logs.documents.named_json import lines_of

if TYPE_CHECKING:
    import yaml

_MAX_CHARS = 4 << 20
"""YAML is read about 50 times slower than JSON."""
_MAX_EVENTS = 200_000
"""Limit on lines, names and brackets, each of which takes a kilobyte while it is parsed."""

_HIDDEN = {code: 0xE000 + code for code in (*range(9), 11, 12, *range(14, 32), 127)}
"""Control characters, as of colours and redrawn lines, which YAML refuses → characters that it takes."""
_SHOWN = {hidden: code for code, hidden in _HIDDEN.items()}


def read(text: str) -> Sequence[TextLine]:
    """Return the lines of the logs in a YAML document; none if it has aliases, which can multiply it.

    A line that is a mapping to YAML, as `step: 3`, is taken as it is written.
    """
    import yaml

    if len(text) > _MAX_CHARS:
        return ()
    text = text.translate(_HIDDEN)
    try:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        events = enumerate(islice(yaml.parse(text, loader), _MAX_EVENTS + 1))
        if any(number == _MAX_EVENTS or isinstance(each, yaml.AliasEvent) for number, each in events):
            return ()
        found = lines_of(_value(yaml.compose(text, loader), text))
    except (yaml.YAMLError, ValueError, RecursionError):
        return ()
    return [line._replace(text=line.text.translate(_SHOWN)) for line in found]


def _value(node: object, text: str) -> object:
    """Return a node as a text, list or mapping; items of a list are texts as they stand in the file."""
    import yaml

    if isinstance(node, yaml.MappingNode):
        return {str(key.value): _value(part, text) for key, part in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [_written(part, text) for part in node.value]
    return node.value if isinstance(node, yaml.ScalarNode) else None


def _written(node: "yaml.Node", text: str) -> str:
    import yaml

    if isinstance(node, yaml.ScalarNode):
        return str(node.value)
    return text[node.start_mark.index : node.end_mark.index].rstrip()
