"""Writes files atomically: a reader sees either the old contents or the new ones, never a part."""

import os
from pathlib import Path

DRAFT_PREFIX = ".mwms-"
"""Prefix of the names of unfinished files, which only a killed process leaves behind."""


def write_atomically(target: Path, content: bytes) -> None:
    """Write a file that is readable by everybody, replacing an existing one.

    Raises:
        OSError: it cannot be written; the old file is unchanged.
    """
    draft = target.with_name(f"{DRAFT_PREFIX}{os.urandom(8).hex()}")
    try:
        draft.write_bytes(content)
        draft.chmod(0o644)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
