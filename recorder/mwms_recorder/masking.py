"""Masks secrets in command lines, environment values and URLs before they are written."""

from __future__ import annotations

import re
from typing import Sequence

MASK = "***"
_WORDS = "password|passwd|secret|token|credential|api[_-]?key|access[_-]?key|private[_-]?key|auth"
_NAME = rf"[\w.-]*(?:{_WORDS})[\w.-]*"
_ASSIGNED = re.compile(r"(?i)\b(" + _NAME + r"\s*[=:]\s*)(\S+)")
_OPTION = re.compile(r"(?i)^--?" + _NAME + r"$")
_USER_INFO = re.compile(r"(\w[\w+.-]*://)[^/\s@]+@")
_KNOWN = re.compile(
    r"\b(?:AKIA[0-9A-Z]{16}|gh[pousr]_\w{20,}|hf_\w{20,}|sk-[\w-]{20,}|xox[abprs]-[\w-]{10,}|ya29\.[\w-]{20,}"
    r"|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*)"
)


def masked(text: str) -> str:
    """Return the text with secrets masked: values of suspicious names, URL user info, known tokens."""
    text = _USER_INFO.sub(r"\1" + MASK + "@", text)
    return _KNOWN.sub(MASK, _ASSIGNED.sub(r"\1" + MASK, text))


def masked_command(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with secrets masked; the value after an option like `--token` is masked whole."""
    after_option = [False, *(bool(_OPTION.match(argument)) for argument in arguments)]
    return [MASK if hidden else masked(argument) for argument, hidden in zip(arguments, after_option)]
