"""The secrets of one document, each with the token that stands for it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence

from analyzer.model.placeholders import SECRET
from analyzer.redact.vendors import DETECTORS, PRIVATE_KEYS, Stretch
from analyzer.redact.walk import Change

_ODD = re.compile(r"(?=.*[A-Za-z])(?=.*\d).{8,}|.{20,}", re.DOTALL)
"""What is masked wherever it stands once it is known to be a secret: no word of any language."""
_MOST_ODD = 400
_KEYS = tuple(
    f"{of}key" for of in ("_", "-", "api", "access", "private", "account", "signing", "master", "secret.")
)
_NAMES = ("passw", "passp", "passc", "_pass", "pwd", "secret", "credential", "token", "auth", "onkey", *_KEYS)
"""A text without any of these has no name that `named` knows."""


def _find_named(text: str) -> Iterator[Stretch]:
    from analyzer.redact.named import find_named

    return find_named(text)


_FINDERS = (*((each.literals, each.find) for each in (*PRIVATE_KEYS, *DETECTORS)), (_NAMES, _find_named))


class Secrets:
    """What was found in some texts; the same secret gets the same token, whatever gave it away.

    Tokens are made with a key that is made of all the texts: without them nobody can try out passwords,
    nor tell whether two reports hide the same one.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        kept = list(dict.fromkeys(texts))
        self._stretches = _all_stretches(kept)
        self._kinds: dict[str, str] = {}
        for text, stretches in self._stretches.items():
            for each in stretches:
                self._kinds.setdefault(text[each.start : each.end], each.kind)
        self._key = _key(kept) if self._kinds else b""
        self._again = _any_of([value for value in self._kinds if _ODD.fullmatch(value)][:_MOST_ODD])

    @property
    def masked(self) -> int:
        """How many different secrets there are."""
        return len(self._kinds)

    def found(self, text: str) -> Sequence[Change]:
        """Where they stand in a text, and their tokens."""
        own = self._stretches.get(text, ())
        again = (Stretch(*match.span(), "") for match in self._again.finditer(text)) if self._again else ()
        return [
            Change(each.start, each.end, self._token(text[each.start : each.end], each.kind))
            for each in _merged([*own, *again])
        ]

    def _token(self, value: str, kind: str) -> str:
        mark = hashlib.blake2b(_bytes(value), key=self._key, digest_size=2).hexdigest()
        return f"[secret:{self._kinds.get(value, kind)}:{mark}]"


def _all_stretches(texts: Sequence[str]) -> dict[str, list[Stretch]]:
    """The texts that hold secrets; who looks for what cannot be there is not even asked."""
    whole = "\n".join(texts).lower()
    asked = [(literals, find) for literals, find in _FINDERS if any(literal in whole for literal in literals)]
    found: dict[str, list[Stretch]] = {}
    for text in texts:
        lowered = text.lower()
        finds = [find for literals, find in asked if any(literal in lowered for literal in literals)]
        raw = (each for find in finds for each in find(text))
        if stretches := _merged(_not_masked(text, raw)):
            found[text] = stretches
    return found


def _not_masked(text: str, stretches: Iterable[Stretch]) -> Iterator[Stretch]:
    """Without those that were masked before."""
    tokens = [match.span() for match in SECRET.finditer(text)] if "[secret:" in text else []
    for each in stretches:
        if not any(start < each.end and each.start < end for start, end in tokens):
            yield each


def _merged(stretches: Iterable[Stretch]) -> list[Stretch]:
    """In order and apart: what overlaps is one secret, of the kind that was found first."""
    made: list[Stretch] = []
    for each in sorted(stretches, key=lambda s: (s.start, -s.end)):
        if not made or each.start >= made[-1].end:
            made.append(each)
        elif each.end > made[-1].end:
            made[-1] = Stretch(made[-1].start, each.end, made[-1].kind)
    return made


def _any_of(values: Sequence[str]) -> re.Pattern[str] | None:
    longest_first = sorted(values, key=lambda value: (-len(value), value))
    return re.compile("|".join(map(re.escape, longest_first))) if values else None


def _key(texts: Iterable[str]) -> bytes:
    whole = hashlib.blake2b(digest_size=32)
    for text in texts:
        whole.update(_bytes(text) + b"\0")
    return whole.digest()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
