"""Manages the output directory of a triage: lock, atomic writes, names and removal of reports."""

import fcntl
import hashlib
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from analyzer.model.errors import UsageError
from analyzer.storage.atomic_write import DRAFT_PREFIX, write_atomically

REPORTS = "reports"
_MAX_NAME_CHARACTERS = 80


@contextmanager
def directory_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of a directory during the `with` block; the kernel releases it if the process dies.

    The lock file is never removed, or two processes could lock different files.

    Raises:
        UsageError: another process holds the lock, or the directory is not writable.

    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / ".lock").open("a", encoding="ascii")
    except OSError as error:
        raise UsageError(f"-o {folder}: cannot be written to: {error.strerror}") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"-o {folder}: another mwms-triage is at work there") from None
        yield


def write_output(target: Path, content: bytes) -> None:
    """Write a file atomically, creating missing directories."""
    target.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(target, content)


def report_path(name: str, place: str) -> str:
    """Return a report's path relative to the output directory; it depends only on `name` and `place`."""
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", name)[:_MAX_NAME_CHARACTERS].strip(".-") or "run"
    digest = hashlib.blake2b(place.encode("utf-8", "backslashreplace"), digest_size=5).hexdigest()
    return f"{REPORTS}/{plain}-{digest}.html"


def remove_reports(folder: Path, reports: Iterable[str]) -> None:
    """Remove reports, except names that `report_path` cannot have made."""
    for report in reports:
        if re.fullmatch(REPORTS + r"/[A-Za-z0-9_.-]+-[0-9a-f]{10}\.html", report):
            (folder / report).unlink(missing_ok=True)


def remove_drafts(folder: Path) -> None:
    """Remove temporary files of a killed process; safe only while the directory is locked."""
    for each in (folder, folder / REPORTS):
        for draft in each.glob(DRAFT_PREFIX + "*"):
            draft.unlink(missing_ok=True)
