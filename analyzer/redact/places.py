"""Finds names of hosts, people, addresses and cloud resources in texts, by the patterns of `places.tsv`."""

import re
from collections.abc import Iterator, Sequence
from ipaddress import ip_address
from itertools import chain
from pathlib import Path
from typing import NamedTuple

_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})"
_ODD = (
    r"(?=[A-Za-z0-9.]{0,62}[\d-])(?=[\d.-]{0,62}[A-Za-z])[A-Za-z0-9][A-Za-z0-9-]{1,62}"
    r"(?:\.[A-Za-z0-9-]{1,62}){0,7}(?![\w/])"
)
_NOT_PUBLIC = (
    r"(?!(?:[\w-]{1,63}\.){0,4}(?:github(?:usercontent)?|tensorflow|python|pypi|google(?:apis|source)?|nvidia|keras"
    r"|kaggle|stackoverflow|readthedocs|apache|kernel|debian|ubuntu|docker|anaconda|pytorch|numpy|microsoft|windows"
    r"|amazonaws|gnu|wikipedia|arxiv|kubernetes|huggingface|wandb|sentry|slack|gitlab|bitbucket|gcr|ghcr|quay|w3"
    r"|grpc|protobuf|mlflow|golang|schedmd|json-schema|aws\.amazon)\.(?:com|org|io|net|dev|ai|co)(?![\w-]))"
    r"(?!(?:tensorflow|keras|tf|torch|np|numpy|google|absl|grpc|xla|jax|self|os|sys|train)\.)"
)
_PARTS = {
    "{host}": rf"{_LABEL}(?:\.{_LABEL}){{0,7}}",
    "{label}": _LABEL,
    "{odd}": _ODD,
    "{name}": r"[A-Za-z0-9](?:[\w.-]{0,80}[A-Za-z0-9])?",
    "{user}": r"[a-z_](?:[a-z0-9_.-]{0,30}[a-z0-9_])",
    "{not_public}": _NOT_PUBLIC,
}
_V4 = re.compile(
    r"(?:(?<![\w.\-])(?<!==)(?<!ersion )|(?<=%3A)|(?<=peer_)|(?<=addr_)|(?<=ip_))"
    r"\d{1,3}(?:\.\d{1,3}){3}(?![\w\-]|\.\d)"
)
_V6 = re.compile(
    r"(?:(?<![\w:.%])|(?<=%5B)|(?<=ipv6:))[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7}(?![\w:])"
    r"|(?<=%5B)[0-9a-fA-F]{0,4}(?:%3A[0-9a-fA-F]{0,4}){2,7}(?=%5D)"
)


class NameSpan(NamedTuple):
    """A name in a text: start, end, and what kind of thing it denotes."""

    start: int
    end: int
    kind: str


class _Pattern(NamedTuple):
    """A row of `places.tsv`; the regex is compiled on first use."""

    kind: str
    literals: Sequence[str]
    regex: str


def _patterns(file: Path) -> Iterator[_Pattern]:
    """Yield the rows of a TSV file; lines without a tab are comments."""
    for line in file.read_text(encoding="utf-8").splitlines():
        kind, *columns = line.split("\t")
        if columns:
            literals, regex = columns
            for name, part in _PARTS.items():
                regex = regex.replace(name, part)
            yield _Pattern(kind, literals.split(), regex)


_PATTERNS = tuple(_patterns(Path(__file__).with_name("places.tsv")))
_LITERALS = frozenset(chain.from_iterable(pattern.literals for pattern in _PATTERNS))


def find_places(text: str) -> Iterator[NameSpan]:
    """Yield the names in a text; they may overlap."""
    lowered = text.lower()
    found = {literal for literal in _LITERALS if literal in lowered}
    for pattern in _PATTERNS:
        if not found.isdisjoint(pattern.literals):
            for match in re.finditer(pattern.regex, text):
                yield NameSpan(*match.span("s"), pattern.kind)
    for match in find_addresses(text):
        yield NameSpan(*match.span(), "address")


def find_addresses(text: str) -> Iterator[re.Match[str]]:
    """Yield the IP addresses in a text; loopback is kept readable, as it may be the cause of the failure."""
    for match in chain(_V4.finditer(text), _V6.finditer(text)):
        plain = match[0].replace("%3A", ":")
        if is_address(plain) and len(plain) > 5:
            address = ip_address(plain)
            if not (address.is_loopback or address.is_unspecified):
                yield match


def is_address(text: str) -> bool:
    """Return True for an IP address."""
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
