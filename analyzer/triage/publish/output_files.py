"""Reads and writes the output directory of a triage, local or in an object store."""

import hashlib
import re
from collections.abc import Container, Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from analyzer.model.errors import UsageError
from analyzer.storage.atomic_write import DRAFT_PREFIX, write_atomically
from analyzer.storage.object_store import ObjectStorage, as_os_errors, changed_at, is_url
from analyzer.triage.locks import WaitPolicy, file_lock

REPORTS = "reports"
NIGHTS = "nights"
DIGESTS = "digests"
_MAX_NAME_CHARACTERS = 80
_CONTENT_TYPES = {".html": "text/html", ".xml": "application/atom+xml", ".json": "application/json"}
_TYPE_OPTIONS = {"s3": "ContentType", "s3a": "ContentType", "gs": "content_type", "gcs": "content_type"}
"""Name of the driver's option for the content type, by URL protocol."""
_REPORT = re.compile(REPORTS + r"/[A-Za-z0-9_.-]+-[0-9a-f]{10}\.html")
"""Matches the names that `report_path` makes."""


class LocalOutputs:
    """Output directory on a local disk; names in it are relative, with `/` between their parts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def lock(self, policy: WaitPolicy) -> AbstractContextManager[None]:
        """Hold the directory for this call; see `file_lock` for errors."""
        return file_lock(self.folder / ".lock", f"-o {self.folder}", policy)

    def write(self, name: str, content: bytes) -> None:
        """Write a file atomically, creating missing directories."""
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(target, content)

    def files(self, folder: str) -> dict[str, float]:
        """Return the times at which the files in a directory were written; remove drafts of killed calls."""
        found = {}
        for path in (self.folder / folder).glob("*"):
            if path.name.startswith(DRAFT_PREFIX):
                path.unlink(missing_ok=True)
            elif path.is_file():
                found[path.relative_to(self.folder).as_posix()] = path.stat().st_mtime
        return found

    def remove(self, name: str) -> None:
        """Remove a file if it exists."""
        (self.folder / name).unlink(missing_ok=True)


class StoredOutputs:
    """Output directory in an object store; every write is atomic, and callers hold the history's lock."""

    def __init__(self, url: str) -> None:
        self.url, self.storage = url.rstrip("/"), ObjectStorage(url)

    def lock(self, policy: WaitPolicy) -> AbstractContextManager[None]:  # noqa: ARG002 - has no lock of its own
        """Do nothing, because object stores have no locks."""
        return nullcontext()

    def write(self, name: str, content: bytes) -> None:
        """Write an object.

        Raises:
            UsageError: the store refuses it.
        """
        kind = f"{_CONTENT_TYPES.get(Path(name).suffix, 'text/plain')}; charset=utf-8"
        option: dict[str, str] = {_TYPE_OPTIONS[self.storage.protocol]: kind}
        try:
            with as_os_errors():
                self.storage.system.pipe_file(f"{self.url}/{name}", content, **option)
        except OSError as error:
            raise UsageError(f"-o {self.url}: cannot be written to: {error}") from error

    def files(self, folder: str) -> dict[str, float]:
        """Return the times, since the epoch, at which the objects directly in one directory were written."""
        try:
            found = list(self.storage.entries(f"{self.url}/{folder}"))
        except FileNotFoundError:
            return {}
        return {f"{folder}/{name}": changed_at(what) for name, what in found}

    def remove(self, name: str) -> None:
        """Remove an object if it exists."""
        with as_os_errors():
            self.storage.system.rm_file(f"{self.url}/{name}")


Outputs = LocalOutputs | StoredOutputs


def outputs_at(folder: str | Path) -> Outputs:
    """Return the output directory at a path or URL.

    Raises:
        UsageError: no driver is installed for the URL.
    """
    return StoredOutputs(str(folder)) if is_url(str(folder)) else LocalOutputs(Path(folder))


def report_path(name: str, place: str) -> str:
    """Return a report's path relative to the output directory; it depends only on `name` and `place`."""
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", name)[:_MAX_NAME_CHARACTERS].strip(".-") or "run"
    digest = hashlib.blake2b(place.encode("utf-8", "backslashreplace"), digest_size=5).hexdigest()
    return f"{REPORTS}/{plain}-{digest}.html"


def remove_reports(outputs: Outputs, expired: Iterable[tuple[str, str]]) -> set[str]:
    """Remove expired reports, given as (night, file name), and return their nights.

    A name that `report_path` cannot have made is not removed.
    """
    nights = set()
    for night, report in expired:
        nights.add(night)
        if _REPORT.fullmatch(report):
            outputs.remove(report)
    return nights


def remove_orphans(outputs: Outputs, live: Container[str], before: float) -> None:
    """Remove reports that no run has any more, if they were written before a time (since the epoch)."""
    for name, written in outputs.files(REPORTS).items():
        if written < before and name not in live and _REPORT.fullmatch(name):
            outputs.remove(name)
