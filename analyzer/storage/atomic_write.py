"""Write a file all or nothing: whoever reads it sees the old contents or the new ones, never a part."""

import os
from pathlib import Path

DRAFT_PREFIX = ".mwms-"
"""How the names of unfinished files begin; only a killed process leaves one behind."""


def write_atomically(target: Path, content: bytes) -> None:
    """Write a file that everybody may read, replacing the one that is there.

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
