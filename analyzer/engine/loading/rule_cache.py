"""Loads rules through the disk cache, and in one process only once."""

import hashlib
import os
import pickle
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from analyzer import engine, model
from analyzer.engine.rule_types import RulePack
from analyzer.model.errors import RuleError
from analyzer.storage.disk_cache import cached


def load_cached(directories: Sequence[Path]) -> RulePack:
    """Return the rules below the directories, from the disk cache if no file has changed.

    Raises:
        RuleError: a rule file is wrong.
    """
    return _load(tuple(directories), _key(directories))


def load_checked(directories: Sequence[Path]) -> RulePack:
    """Return the rules below the directories, read and checked; of several, only the first may be cached.

    Raises:
        RuleError: a rule file is wrong.
    """
    from analyzer.engine.loading.load import load

    first = _loaded_alone(directories[0]) if len(directories) > 1 else None
    return load(directories, first) if first else load(directories)


def _loaded_alone(directory: Path) -> RulePack | None:
    """Return the rules of a directory; None if they are wrong without others, or an overlay changed them."""
    try:
        pack = load_cached([directory])
    except RuleError:
        return None
    return None if pack.overlay else pack


@lru_cache(maxsize=2)
def _load(directories: Sequence[Path], key: str) -> RulePack:
    pack: RulePack = cached("rules", key, lambda: load_checked(directories), pickle.dumps, pickle.loads)
    return pack


def _key(directories: Sequence[Path]) -> str:
    """Return a cache key that changes whenever a file of the rules or of the engine's code changes."""
    code = (Path(engine.__file__).parent, Path(model.__file__).parent)
    states = (state for folder in (*directories, *code) for state in sorted(_states(folder)))
    return hashlib.sha256("\0".join(states).encode("utf-8", "surrogateescape")).hexdigest()[:24]


def _states(directory: Path) -> Iterator[str]:
    """Yield a text with path, times and size of each file of rules or code below a directory."""
    for folder, _, names in os.walk(directory):
        for name in names:
            if name.endswith((".yaml", ".py", ".json", ".tsv")):
                state = os.stat(f"{folder}/{name}")  # noqa: PTH116 - of hundreds of files, at each start
                yield f"{folder}/{name} {state.st_mtime_ns} {state.st_ctime_ns} {state.st_size}"
