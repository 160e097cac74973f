"""Detectors of secrets with a recognizable form, such as tokens of known vendors, from `detectors.tsv`."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple


class SecretSpan(NamedTuple):
    """A secret in a text: start, end and kind."""

    start: int
    end: int
    kind: str


class Detector(NamedTuple):
    """One kind of secret; a text without any of its lower-case literals has none.

    The secret is the group `s` of the pattern, or the whole match. The pattern is compiled on first use,
    because most are never needed.
    """

    kind: str
    literals: Sequence[str]
    pattern: str

    def find(self, text: str) -> Iterator[SecretSpan]:
        """Yield the secrets in a text that match the pattern."""
        for match in re.finditer(self.pattern, text):
            yield SecretSpan(*match.span("s" if "s" in match.re.groupindex else 0), self.kind)


def _detectors(file: Path) -> Iterator[Detector]:
    """Yield the detectors of a TSV file; lines without a tab are comments."""
    for line in file.read_text(encoding="utf-8").splitlines():
        kind, *columns = line.split("\t")
        if len(columns) == 2:
            literals, pattern = columns
            yield Detector(kind, [each.replace("␣", " ") for each in literals.split()] or ("",), pattern)
        elif columns:
            prefixes, characters, least = columns
            yield from (_prefixed(kind, prefix, characters, least) for prefix in prefixes.split())


def _prefixed(kind: str, prefix: str, characters: str, least: str) -> Detector:
    """Return a detector of tokens: a prefix and `least` or more of the characters.

    A token may be shorter if the text was cut, or if white space such as a line break divides it. With
    `20 mixed`, a token is never shorter, and has a digit, a small and a capital letter.
    """
    number, _, is_mixed = least.partition(" ")
    token = rf"[{characters}]{{{number},}}+"
    if is_mixed:
        odd = "".join(rf"(?=[{characters}]{{0,80}}?[{needed}])" for needed in ("0-9", "a-z", "A-Z"))
        token = odd + token
    else:
        begun = rf"(?=[{characters}]{{0,80}}?(?:[0-9]|[a-z][A-Z]))[{characters}]{{3,}}+"
        token += rf"|{begun}\s{{1,12}}(?=[{characters}]{{0,80}}?[0-9])[{characters}]{{6,}}+"
        token += rf"|(?=[{characters}]{{0,80}}?[0-9])[{characters}]{{6,}}+(?=\s?…|\Z)"
    return Detector(kind, (_literal(prefix),), rf"(?<![A-Za-z0-9]){prefix}(?:{token})")


def _literal(prefix: str) -> str:
    """Return the longest fixed part of a prefix, in small letters."""
    fixed = re.split(r"\[.*?\]|\(.*\)\??|\{.*?\}|\\\w", prefix.replace("\\.", "."))
    return max(fixed, key=len).lower()


DETECTORS: Sequence[Detector] = tuple(_detectors(Path(__file__).with_name("detectors.tsv")))
