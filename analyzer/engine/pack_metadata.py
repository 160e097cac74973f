"""`pack.yaml`: what a directory of rules is called, and which version of it this is."""

from __future__ import annotations

import re
from pathlib import Path

from analyzer.engine.document import Document
from analyzer.engine.language import Pack

NAME = "pack.yaml"
_KEYS = ("name", "version")


def faults(described: Document) -> list[str]:
    """What is wrong with a description, each with file and line."""
    if described.data and described.only((), described.data, _KEYS):
        for key in _KEYS:
            if not isinstance(described.data.get(key), str) or not described.data[key].strip():
                described.fault((key,), f"`{key}` is a text, in quotes where it looks like a number")
    return described.faults


def pack(directory: Path, described: Document | None, digest: str) -> Pack:
    """A directory of rules; without a description it is called like the directory."""
    if described is None:
        return Pack(re.sub(r"[^\w.-]", "-", directory.name), None, digest)
    return Pack(str(described.data["name"]), str(described.data["version"]), digest)
