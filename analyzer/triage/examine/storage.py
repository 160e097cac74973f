"""Lists and downloads files of runs in local directories and, with fsspec, in object stores."""

import os
import stat
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from analyzer.model.errors import UsageError

EXTRAS: Mapping[str, str] = {"s3": "s3", "s3a": "s3", "gs": "gcs", "gcs": "gcs"}
"""Extra of this package that installs the driver, by URL protocol."""


class File(NamedTuple):
    """A file: name relative to the listed path, size in bytes, modification time since the epoch.

    `version` changes with the content: modification time in nanoseconds, or ETag.
    """

    name: str
    size: int
    changed: float
    version: str


class Listing(NamedTuple):
    """Names in a directory, except those that begin with a dot."""

    files: tuple[str, ...]
    folders: tuple[str, ...]


class LocalStorage:
    """Lists local directories without following links to directories. Methods may raise OSError."""

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
        """Yield every file below a directory, or `place` if it is a file; skip unreadable directories."""
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
    """Lists an object store, in which `/` in keys separates directories. Methods may raise OSError."""

    def __init__(self, url: str) -> None:
        """Connect to the object store of a URL.

        Raises:
            UsageError: the protocol is not one of `EXTRAS`, or its driver is not installed.

        """
        import fsspec

        self.protocol: str = url.partition("://")[0]
        extra = EXTRAS.get(self.protocol)
        if extra is None:
            raise UsageError(f"{url}: give a directory, or a URL that begins with s3:// or gs://")
        try:
            self.system, _ = fsspec.core.url_to_fs(url)
        except (ImportError, ValueError) as error:
            raise UsageError(f"{url}: its driver is not installed; the extra [{extra}] brings it") from error

    def files(self, place: str, prefix: str = "") -> Iterator[File]:
        """Yield every object below a key whose name begins with `prefix`, or the object with this key."""
        base = self._object_key(place)
        with as_os_errors():
            self.system.invalidate_cache()
            found = self.system.find(base, detail=True, prefix=prefix)
        for key, what in sorted(found.items()):
            name = key[len(base) :].strip("/") or base.rpartition("/")[2]
            if not key.endswith("/") and not any(part.startswith(".") for part in name.split("/")):
                changed = changed_at(what)
                version = what.get("ETag") or what.get("etag") or what.get("md5Hash") or changed
                yield File(name, int(what.get("size") or 0), changed, str(version))

    def below(self, place: str, name: str) -> str:
        """Return the URL of an entry of a directory."""
        return f"{place.rstrip('/')}/{name}"

    def fetch(self, place: str, name: str, target: Path) -> None:
        """Download the object `name`, as `files(place)` yielded it, to a local path."""
        base = self._object_key(place)
        key = f"{base}/{name}" if self.system.isdir(base) else base
        with as_os_errors():
            self.system.get_file(key, str(target))

    def _object_key(self, place: str) -> str:
        return str(self.system._strip_protocol(place)).rstrip("/")  # noqa: SLF001 - what fsspec's drivers override

    def entries(self, place: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield name and fsspec's description of every entry directly below a key."""
        base = self._object_key(place)
        with as_os_errors():
            found = self.system.ls(base, detail=True, refresh=True)
        for what in found:
            name = str(what["name"]).rstrip("/")[len(base) :].strip("/")
            if name:
                yield name, what


class StoredTree:
    """Tree of the directories below a URL, from one recursive listing: one request per 1,000 objects.

    Listing each directory by itself would take a request per run and night. The tree has only the files whose
    names below the URL begin with `prefix`. Methods may raise OSError.
    """

    def __init__(self, store: ObjectStorage, root: str, prefix: str) -> None:
        self.store, self.root, self.prefix = store, root.rstrip("/"), prefix

    @cached_property
    def _files(self) -> tuple[list[str], list[File]]:
        """Return the sorted names of all files below the root, and the files."""
        found = sorted(self.store.files(self.root, self.prefix))
        if not found:
            raise FileNotFoundError(f"there is nothing at {self.root}/{self.prefix}")
        return [file.name for file in found], found

    def listing(self, place: str) -> Listing:
        """Return the entries of a directory."""
        inside = self._inside(place)
        cut = len(inside)
        rests = [file.name[cut:] for file in self._below(inside)]
        folders = dict.fromkeys(rest.partition("/")[0] for rest in rests if "/" in rest)
        return Listing(tuple(rest for rest in rests if "/" not in rest), tuple(folders))

    def files(self, place: str) -> Iterator[File]:
        """Yield every file below a directory, or `place` if it is a file."""
        inside = self._inside(place)
        for file in self._below(inside):
            yield file._replace(name=file.name[len(inside) :])
        names, files = self._files
        at = bisect_left(names, inside.rstrip("/"))
        if inside and at < len(names) and names[at] == inside.rstrip("/"):
            yield files[at]._replace(name=names[at].rpartition("/")[2])

    def below(self, place: str, name: str) -> str:
        """Return the URL of an entry of a directory."""
        return self.store.below(place, name)

    def _inside(self, place: str) -> str:
        inside = place.rstrip("/")[len(self.root) :].strip("/")
        return f"{inside}/" if inside else ""

    def _below(self, inside: str) -> list[File]:
        """Return the files whose names begin with `inside`, which is empty or ends with `/`."""
        names, files = self._files
        end = bisect_left(names, f"{inside[:-1]}0") if inside else len(names)  # `0` follows `/`
        return files[bisect_left(names, inside) : end]


@contextmanager
def as_os_errors() -> Iterator[None]:
    """Convert all exceptions of fsspec drivers in the `with` block to OSError."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        raise OSError(f"{type(error).__name__}: {error}") from error


Storage = LocalStorage | StoredTree


def storage_for(root: str, prefix: str = "") -> Storage:
    """Return the storage backend for `root`: local files, or an object store for a URL.

    Of an object store, only the files whose names below the root begin with `prefix` are listed.

    Raises:
        UsageError: no driver is installed for the URL.

    """
    return StoredTree(ObjectStorage(root), root, prefix) if is_url(root) else LocalStorage()


def is_url(place: str) -> bool:
    """Return True if `place` is a URL, which means an object store, and not a local path."""
    return "://" in place


def _file(path: str, name: str) -> File:
    try:
        status = os.stat(path)
    except OSError as error:
        return File(name, 0, 0.0, f"unreadable: {error.errno}")
    return File(name, status.st_size, status.st_mtime, str(status.st_mtime_ns))


def changed_at(what: Mapping[str, Any]) -> float:
    """Return the modification time from an fsspec entry, in seconds since the epoch; 0 if unknown."""
    found = next((what[key] for key in ("LastModified", "updated", "mtime", "created") if what.get(key)), 0.0)
    if isinstance(found, str):
        found = datetime.fromisoformat(found)
    return found.timestamp() if isinstance(found, datetime) else float(found)
