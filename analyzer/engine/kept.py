"""Checked rules, kept between calls.

Reading and checking a hundred rule files takes longer than using them. The result is kept in the user's
own cache directory under a name made of the files' contents and of the code that read them; whatever is
wrong with it, the rules are read anew.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Sequence
from pathlib import Path

from analyzer import model, schema
from analyzer.engine.language import RulePack
from analyzer.resources import cache_directory

MOST_KEPT = 8
"""Packs that are kept; a person uses few."""


def load_kept(directories: Sequence[Path]) -> RulePack:
    """The rules below some directories, as `load` gives them.

    Raises:
        RuleError: as `load`.
    """
    folder = cache_directory()
    kept = folder / f"rules-{_key(directories)}.pickle" if folder and _is_ours(folder) else None
    pack = _read(kept) if kept else None
    if pack is None:
        from analyzer.engine.load import load

        pack = load(directories)
        if kept:
            _write(kept, pack)
    return pack


def _key(directories: Sequence[Path]) -> str:
    """A name for these rules, read by this code."""
    whole = hashlib.sha256()
    for directory in directories:
        for file in sorted(directory.rglob("*.yaml")):
            whole.update(str(file).encode() + b"\0" + file.read_bytes() + b"\0")
    for code in (*sorted(Path(__file__).parent.glob("*.py")), Path(schema.__file__), Path(model.__file__)):
        whole.update(f"{code.name} {code.stat().st_mtime_ns} {code.stat().st_size}\0".encode())
    return whole.hexdigest()[:24]


def _is_ours(folder: Path) -> bool:
    """Whether nobody else can have written there; only then may it be unpickled."""
    status = folder.stat()
    return status.st_uid == os.getuid() and not status.st_mode & 0o022


def _read(kept: Path) -> RulePack | None:
    try:
        pack = pickle.loads(kept.read_bytes())  # noqa: S301 - our own file, in a directory that only we can write
    except Exception:  # noqa: BLE001 - absent, cut off, or of another version: all mean that it is read anew
        return None
    return pack if isinstance(pack, RulePack) else None


def _write(kept: Path, pack: RulePack) -> None:
    fresh = kept.with_suffix(f".{os.getpid()}")
    try:
        fresh.write_bytes(pickle.dumps(pack))
        fresh.replace(kept)
        packs = sorted(kept.parent.glob("rules-*.pickle"), key=lambda each: each.stat().st_mtime_ns)
        for old in packs[:-MOST_KEPT]:
            old.unlink(missing_ok=True)
    except OSError:
        fresh.unlink(missing_ok=True)
