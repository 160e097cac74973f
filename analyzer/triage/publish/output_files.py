"""The files in the output directory of a triage: atomic writes, names of reports, removal of old ones."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

REPORTS = "reports"
_DRAFT = ".mwms-"
_MAX_NAME_CHARACTERS = 80


def put(target: Path, content: bytes) -> None:
    """Write a file, all or nothing, into a directory that is made where it is missing."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=_DRAFT)
    try:
        with os.fdopen(handle, "wb") as draft:
            draft.write(content)
        Path(name).chmod(0o644)
        Path(name).replace(target)
    finally:
        Path(name).unlink(missing_ok=True)


def report_path(name: str, place: str) -> str:
    """Return the path of a run's report relative to the output directory; equal places give equal paths."""
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", name)[:_MAX_NAME_CHARACTERS].strip(".-") or "run"
    digest = hashlib.blake2b(place.encode("utf-8", "backslashreplace"), digest_size=5).hexdigest()
    return f"{REPORTS}/{plain}-{digest}.html"


def remove_reports(folder: Path, reports: Iterable[str]) -> None:
    """Remove reports; names that are not of our form are ignored."""
    for report in reports:
        if re.fullmatch(REPORTS + r"/[A-Za-z0-9_.-]+-[0-9a-f]{10}\.html", report):
            (folder / report).unlink(missing_ok=True)


def remove_drafts(folder: Path) -> None:
    """Remove the drafts that a killed process left; nobody else writes here while the lock is held."""
    for each in (folder, folder / REPORTS):
        for draft in each.glob(_DRAFT + "*"):
            draft.unlink(missing_ok=True)
