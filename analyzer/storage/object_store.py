"""Lists and downloads files of an object store, with fsspec, which an extra of this package brings."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from analyzer.model.errors import UsageError, missing_extra

EXTRAS: Mapping[str, str] = {"s3": "s3", "s3a": "s3", "gs": "gcs", "gcs": "gcs"}
"""Extra of this package that installs the driver, by URL protocol."""
_MAX_NAME = 200


class File(NamedTuple):
    """A file: name relative to the listed path, size in bytes, modification time since the epoch.

    `version` changes with the content: modification time in nanoseconds, or ETag.
    """

    name: str
    size: int
    changed: float
    version: str


class ObjectStorage:
    """Lists an object store, in which `/` in keys separates directories. Methods may raise OSError."""

    def __init__(self, url: str) -> None:
        """Open the file system of a URL, such as `s3://bucket/runs`.

        Raises:
            UsageError: the protocol is not one of `EXTRAS`, or its driver is not installed.
        """
        self.protocol: str = url.partition("://")[0]
        extra = EXTRAS.get(self.protocol)
        if extra is None:
            raise UsageError(f"{url}: give a directory, or a URL that begins with s3:// or gs://")
        try:
            import fsspec

            self.system, _ = fsspec.core.url_to_fs(url)
        except (ImportError, ValueError) as error:
            raise UsageError(f"{url}: {missing_extra('its driver', extra)}") from error

    def files(self, place: str, prefix: str = "") -> Iterator[File]:
        """Yield the object with this key, or the objects below it whose names begin with `prefix`."""
        base = self._object_key(place)
        with as_os_errors():
            self.system.invalidate_cache()
            found = self.system.find(base, detail=True, prefix=prefix)
        for key, what in sorted(found.items()):
            name = key[len(base) :].strip("/") or base.rpartition("/")[2]
            if not key.endswith("/") and not any(part.startswith(".") for part in name.split("/")):
                yield _file(name, what)

    def directory(self, place: str) -> tuple[list[File], list[str]]:
        """Return the files directly below a key, and the names of the directories."""
        shown = [(name, what) for name, what in self.entries(place) if not name.startswith(".")]
        files = [_file(name, what) for name, what in shown if what["type"] != "directory"]
        return files, [name for name, what in shown if what["type"] == "directory"]

    def below(self, place: str, name: str) -> str:
        """Return the URL of an entry of a directory."""
        return f"{place.rstrip('/')}/{name}"

    def opening(self, place: str, name: str, size: int) -> bytes:
        """Return the first bytes of the object `name` below a key."""
        with as_os_errors():
            return bytes(self.system.cat_file(f"{self._object_key(place)}/{name}", start=0, end=size))

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


def download(url: str, scratch: Path) -> Path:
    """Download a run to `scratch`, and return its path, which keeps the last two parts of the URL.

    Raises:
        UsageError: the protocol is not one of `EXTRAS`, or its driver is not installed.
        OSError: it cannot be listed or downloaded, or there is nothing at the URL.
    """
    store = ObjectStorage(url)
    above, own = url.rstrip("/").split("/")[-2:]
    target = scratch / (_safe_part(above) or "runs") / (_safe_part(own) or "run")
    for file in store.files(url):
        parts = file.name.split("/")
        path = target.joinpath(*parts) if url.rstrip("/").rpartition("/")[2] != file.name else target
        if not all(map(_safe_part, parts)):
            continue  # a key may hold `..`, which would lead out of the directory
        path.parent.mkdir(parents=True, exist_ok=True)
        store.fetch(url, file.name, path)
        os.utime(path, (file.changed, file.changed))
    if not target.exists():
        raise FileNotFoundError(f"there is nothing at {url}")
    return target


def _safe_part(part: str) -> str:
    return "" if part in {"", ".", ".."} or "\0" in part or len(part.encode()) > _MAX_NAME else part


@contextmanager
def as_os_errors() -> Iterator[None]:
    """Convert all exceptions of fsspec drivers in the `with` block to OSError."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        raise OSError(f"{type(error).__name__}: {error}") from error


def is_url(place: str) -> bool:
    """Return True if `place` is a URL, which means an object store, and not a local path."""
    return "://" in place


def _file(name: str, what: Mapping[str, Any]) -> File:
    changed = changed_at(what)
    version = what.get("ETag") or what.get("etag") or what.get("md5Hash") or changed
    return File(name, int(what.get("size") or 0), changed, str(version))


def changed_at(what: Mapping[str, Any]) -> float:
    """Return the modification time from an fsspec entry, in seconds since the epoch; 0 if unknown."""
    found = next((what[key] for key in ("LastModified", "updated", "mtime", "created") if what.get(key)), 0.0)
    if isinstance(found, str):
        found = datetime.fromisoformat(found)
    return found.timestamp() if isinstance(found, datetime) else float(found)
