"""Makes up secrets of the kinds in `secret_kinds.tsv` and plants them in the texts of a run."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
DIGITS = "0123456789"
LOWER = "abcdefghijklmnopqrstuvwxyz"
ALPHABETS: Mapping[str, str] = {
    "digits": DIGITS,
    "hex": DIGITS + "abcdef",
    "lower": LOWER + DIGITS,
    "upper": LOWER.upper() + "234567",
    "alnum": LOWER + LOWER.upper() + DIGITS,
    "b64": LOWER + LOWER.upper() + DIGITS + "+/",
    "b64url": LOWER + LOWER.upper() + DIGITS + "-_",
}
WORDS = ("harbor", "violet", "saddle", "meadow", "copper", "lantern", "walnut", "glacier")
PLACEHOLDER = re.compile(
    rf"<(?:(?P<what>uuid|word)|(?P<key>pem|pem-json) (?P<label>[A-Z ]+)|(?P<of>{'|'.join(ALPHABETS)}) (?P<length>\d+))>"
)
WINDOW = 10
"""Characters of a secret in a row that count as a leak."""


class Kind(NamedTuple):
    """A kind of secret: a line with the secret at `@@`, and the form of the secret."""

    group: str
    name: str
    line: str
    form: str

    def secret(self, seed: str) -> str:
        """Return a secret of this kind, the same for the same seed."""
        return _made(self.form, f"{self.group} {self.name} {seed}")

    def text(self, secret: str) -> str:
        """Return the line that holds the secret."""
        return _made(self.line, self.name).replace("@@", secret, 1)


def kinds() -> Sequence[Kind]:
    """Return all kinds of secrets of the data file."""
    lines = (HERE / "secret_kinds.tsv").read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines if line and not line.startswith("#"))
    return [Kind(group, name, line.replace("\\n", "\n"), form) for group, name, line, form in rows]


class Shape(NamedTuple):
    """A line that names machines, people or places; without names, a line that must stay as it is."""

    name: str
    line: str
    names: Sequence[str]


def shapes() -> Sequence[Shape]:
    """Return all shapes of `topology_shapes.tsv`."""
    lines = (HERE / "topology_shapes.tsv").read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines if line and not line.startswith("#"))
    return [Shape(name, line, " ".join(names).split()) for name, line, *names in rows]


PLACEMENTS = ("exception", "error", "source", "JSON log")


def planted(text: str, placement: str) -> str:
    """Return a record that holds the text: of an exception, an error, a source line or a JSON log."""
    if placement == "exception":
        return f"ValueError: {text}"
    if placement == "error":
        return f"2026-01-01 10:00:05.000000: E tensorflow/core/common_runtime/x.cc:101] {text}"
    if placement == "source":
        return f'  File "/srv/train.py", line 12, in main\n    connect({text!r})'
    return json.dumps({"severity": "ERROR", "message": text, "step": 7})


def leaks(secret: str, text: str) -> bool:
    """Return True if ten characters in a row of the secret, or all of a shorter one, are in the text."""
    return any(window in text for part in _parts(secret) for window in _windows(part))


def _parts(secret: str) -> Iterator[str]:
    for line in re.split(r"\n|\\n", secret):
        if line and not line.startswith("-----"):
            yield line


def _windows(part: str) -> Iterator[str]:
    """Yield ten characters in a row with a digit: others may be words."""
    every = [part[at : at + WINDOW] for at in range(max(1, len(part) - WINDOW + 1))]
    yield from (window for window in every if re.search(r"\d", window) or len(every) == 1)


def _made(form: str, seed: str) -> str:
    """Return the form with its placeholders filled."""
    return PLACEHOLDER.sub(lambda match: _part(match, f"{seed} {match.start()}"), form)


def _part(match: re.Match[str], seed: str) -> str:
    if match["of"]:
        return random_text(seed, ALPHABETS[match["of"]], int(match["length"]))
    if match["key"]:
        return _pem(match["label"], seed).replace("\n", "\\n" if match["key"] == "pem-json" else "\n")
    if match["what"] == "word":
        return WORDS[hashlib.sha256(seed.encode()).digest()[0] % len(WORDS)]
    return "-".join(random_text(f"{seed} {n}", ALPHABETS["hex"], n) for n in (8, 4, 4, 4, 12))


def _pem(label: str, seed: str) -> str:
    body = [random_text(f"{seed} {n}", ALPHABETS["b64"], 64) for n in range(4)]
    return "\n".join([f"-----BEGIN {label}-----", *body, f"-----END {label}-----"])


def random_text(seed: str, alphabet: str, length: int) -> str:
    """Return characters of the alphabet that look random, the same for the same seed; the last is a digit."""
    made = hashlib.shake_256(seed.encode()).digest(length)
    text = "".join(alphabet[byte % len(alphabet)] for byte in made)
    return text[:-1] + (DIGITS[made[-1] % 10] if DIGITS in alphabet else text[-1])
