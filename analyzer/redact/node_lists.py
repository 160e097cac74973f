"""Finds Slurm's node lists, such as `cn[0123-0125,0130]`, and the hosts that they name."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

_LIST = re.compile(
    r"(?<![\w.\-])(?P<prefix>[A-Za-z][A-Za-z0-9\-]{0,40})\[(?P<numbers>\d{1,6}(?:[,\-]\d{1,6}){1,64})\]"
)
_MAX_HOSTS = 512
"""Maximum number of hosts in one list; further ones are ignored."""


class NodeList(NamedTuple):
    """A node list in a text: start, end, and the hosts that it names."""

    start: int
    end: int
    names: Sequence[str]


def find_node_lists(text: str) -> Iterator[NodeList]:
    """Yield the node lists of a text."""
    for match in _LIST.finditer(text):
        numbers = (number for part in match["numbers"].split(",") for number in _numbers(part))
        yield NodeList(*match.span(), [f"{match['prefix']}{each}" for each in islice(numbers, _MAX_HOSTS)])


def _numbers(part: str) -> Iterator[str]:
    """Yield the numbers of a range such as `0123-0125`, zero-padded; a single number is its own range."""
    first, _, last = part.partition("-")
    final = min(int((last or first).partition("-")[0]), int(first) + _MAX_HOSTS)
    yield from (str(number).zfill(len(first)) for number in range(int(first), final + 1))
