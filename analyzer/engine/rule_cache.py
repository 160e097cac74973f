"""Loads rules through the disk cache."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Sequence
from pathlib import Path

from analyzer import model
from analyzer.engine.language import RulePack
from analyzer.storage.disk_cache import cached


def load_kept(directories: Sequence[Path]) -> RulePack:
    """Return the rules below some directories, like `load` but cached.

    Raises:
        RuleError: as `load`.
    """

    def make() -> RulePack:
        from analyzer.engine.load import load

        return load(directories)

    return cached("rules", _key(directories), make, _pickled, _unpickled)


def _pickled(pack: RulePack) -> bytes:
    return pickle.dumps(pack)


def _unpickled(content: bytes) -> RulePack:
    pack: RulePack = pickle.loads(content)  # noqa: S301 - our own file, in a directory that only we can write
    return pack


def _key(directories: Sequence[Path]) -> str:
    """Return a cache key that changes with the code and with the file's modification times."""
    rules = (file for directory in directories for file in sorted(directory.rglob("*.yaml")))
    homes = (Path(__file__).parent, Path(model.__file__).parent)
    code = (file for home in homes for file in sorted(home.rglob("*.py")))
    whole = hashlib.sha256()
    for file in (*rules, *code):
        state = file.stat()
        whole.update(f"{file} {state.st_mtime_ns} {state.st_ctime_ns} {state.st_size}\0".encode())
    return whole.hexdigest()[:24]
