"""Access to the places of runs: local directories, and object stores through fsspec."""

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from analyzer.model.errors import UsageError

EXTRAS: Mapping[str, str] = {"s3": "s3", "s3a": "s3", "gs": "gcs", "gcs": "gcs"}
"""Extra of this package that installs the driver of a protocol."""


class File(NamedTuple):
    """A listed file: name relative to the listed place, size in bytes, time of change since the epoch.

    `version` changes with the content: the time in nanoseconds, or the ETag.
    """

    name: str
    size: int
    changed: float
    version: str


class Listing(NamedTuple):
    """Entries of a directory; names that begin with a dot are left out."""

    files: tuple[str, ...]
    folders: tuple[str, ...]


class LocalStorage:
    """Local directories; symbolic links to directories are not followed. Every method may raise OSError."""

    def listing(self, place: str) -> Listing:
        """Return the entries of a directory."""
        with os.scandir(place) as entries:
            found = sorted(
                (each.name, each.is_dir(follow_symlinks=False), each.is_file()) for each in entries
            )
        shown = [each for each in found if not each[0].startswith(".")]
        return Listing(
            tuple(name for name, _, file in shown if file), tuple(name for name, folder, _ in shown if folder)
        )

    def files(self, place: str) -> Iterator[File]:
        """Yield every file below a directory, or the file itself; unreadable directories are skipped."""
        if not stat.S_ISDIR(os.stat(place).st_mode):
            yield _file(place, os.path.basename(place))
            return
        for folder, folders, names in os.walk(place):
            folders[:] = sorted(each for each in folders if not each.startswith("."))
            for name in sorted(each for each in names if not each.startswith(".")):
                path = os.path.join(folder, name)
                yield _file(path, os.path.relpath(path, place))

    def below(self, place: str, name: str) -> str:
        """Return the path of an entry of a directory."""
        return os.path.join(place, name)


class ObjectStorage:
    """An object store; `/` in a key separates directories. Every method may raise OSError."""

    def __init__(self, url: str) -> None:
        """Connect to the object store of a URL.

        Raises:
            UsageError: no driver is installed for the URL.

        """
        import fsspec

        self.protocol = url.partition("://")[0]
        try:
            self.system, _ = fsspec.core.url_to_fs(url)
        except (ImportError, ValueError) as error:
            extra = EXTRAS.get(self.protocol)
            hint = f"; the extra [{extra}] brings it" if extra else ""
            raise UsageError(f"{url}: there is no driver for {self.protocol}://{hint}") from error

    def listing(self, place: str) -> Listing:
        """Return the entries directly below a key."""
        found = [each for each in self._entries(place) if not each[0].startswith(".")]
        return Listing(
            tuple(sorted(name for name, what in found if what["type"] == "file")),
            tuple(sorted(name for name, what in found if what["type"] == "directory")),
        )

    def files(self, place: str) -> Iterator[File]:
        """Yield every object below a key, or the object itself."""
        base = self._object_key(place)
        with _as_os_errors():
            found = self.system.find(base, detail=True)
        for key, what in sorted(found.items()):
            name = key[len(base) :].strip("/") or base.rpartition("/")[2]
            if not key.endswith("/") and not any(part.startswith(".") for part in name.split("/")):
                changed = _changed(what)
                version = what.get("ETag") or what.get("etag") or what.get("md5Hash") or changed
                yield File(name, int(what.get("size") or 0), changed, str(version))

    def below(self, place: str, name: str) -> str:
        """Return the URL of an entry below a key."""
        return f"{place.rstrip('/')}/{name}"

    def fetch(self, place: str, name: str, target: Path) -> None:
        """Download one of the objects that `files` yielded to a local path."""
        base = self._object_key(place)
        key = f"{base}/{name}" if self.system.isdir(base) else base
        with _as_os_errors():
            self.system.get_file(key, str(target))

    def _object_key(self, place: str) -> str:
        return str(self.system._strip_protocol(place)).rstrip("/")  # noqa: SLF001 - what fsspec's drivers override

    def _entries(self, place: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        base = self._object_key(place)
        with _as_os_errors():
            found = self.system.ls(base, detail=True, refresh=True)
        for what in found:
            name = str(what["name"]).rstrip("/")[len(base) :].strip("/")
            if name:
                yield name, what


@contextmanager
def _as_os_errors() -> Iterator[None]:
    """Convert the exceptions of drivers, each with a hierarchy of its own, to OSError."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        raise OSError(f"{type(error).__name__}: {error}") from error


Storage = LocalStorage | ObjectStorage


def storage_for(root: str) -> Storage:
    """Return the storage backend for `root`.

    Raises:
        UsageError: no driver is installed for the URL.

    """
    return ObjectStorage(root) if is_url(root) else LocalStorage()


def is_url(place: str) -> bool:
    """Return True if a place is in an object store."""
    return "://" in place


def _file(path: str, name: str) -> File:
    try:
        status = os.stat(path)
    except OSError as error:
        return File(name, 0, 0.0, f"unreadable: {error.errno}")
    return File(name, status.st_size, status.st_mtime, str(status.st_mtime_ns))


def _changed(what: Mapping[str, Any]) -> float:
    """Return when an object was changed (seconds since the epoch, or 0); its key depends on the driver."""
    found = next((what[key] for key in ("LastModified", "updated", "mtime", "created") if what.get(key)), 0.0)
    if isinstance(found, str):
        found = datetime.fromisoformat(found)
    return found.timestamp() if isinstance(found, datetime) else float(found)
