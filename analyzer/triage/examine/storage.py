"""Lists the files of runs in local directories and in object stores, and reads their first bytes."""

import os
import stat
from bisect import bisect_left
from collections.abc import Iterator
from operator import attrgetter
from typing import NamedTuple

from analyzer.storage.object_store import File, ObjectStorage, is_url
from analyzer.triage.examine.settled_runs import NONE_KNOWN, SettledRuns, StoredRun, parents

_PAGE = 1000
"""Number of objects that a request lists."""


class Listing(NamedTuple):
    """Names in a directory, except those that begin with a dot."""

    files: tuple[str, ...]
    folders: tuple[str, ...]


class LocalStorage:
    """Lists local directories without following links to directories. Methods may raise OSError."""

    def listing(self, place: str) -> Listing:
        """Return the entries of a directory."""
        with os.scandir(place) as entries:
            shown = sorted((e for e in entries if not e.name.startswith(".")), key=attrgetter("name"))
            files = tuple(each.name for each in shown if each.is_file())
            return Listing(files, tuple(each.name for each in shown if each.is_dir(follow_symlinks=False)))

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

    def opening(self, place: str, name: str, size: int) -> bytes:
        """Return the first `size` bytes of a file in a directory; none of a pipe, socket or device."""
        path = os.path.join(place, name)
        if not os.path.isfile(path):  # opening a pipe would block
            return b""
        with open(path, "rb") as file:
            return file.read(size)

    def settled(self, _place: str) -> list[StoredRun]:
        """Return the stored runs that need not be listed again: none, as local listing costs little."""
        return []


class StoredTree:
    """Tree of the directories below a URL, listed on demand. Methods may raise OSError.

    Listing everything takes a request per 1,000 objects. Where runs are known, only the directories above
    them and runs that are new or not settled are listed, each by itself, unless that takes more requests.
    With a `prefix`, only the files whose paths below the root begin with it are listed.
    """

    def __init__(self, store: ObjectStorage, root: str, prefix: str, known: SettledRuns) -> None:
        self.store, self.root, self.prefix, self._known = store, root.rstrip("/"), prefix, known
        self._trees: dict[str, list[File]] = {}
        """Sorted files of each tree that was listed, by URL."""
        self._directories: dict[str, tuple[dict[str, File], list[str]]] = {}
        """Files and directories of each directory that was listed by itself, by URL."""

    def settled(self, place: str) -> list[StoredRun]:
        """Return the stored runs at or below a place that need not be listed; none after it was listed."""
        return self._known.at(place) if self._listed(place) is None else []

    def listing(self, place: str) -> Listing:
        """Return the entries of a directory."""
        if self._listed(place) is None and place in self._known.files:
            files, folders = self._directory(place)
            requests = sum(not self.settled(self.below(place, name)) for name in folders)
            if requests <= 1 + self._known.files[place] // _PAGE:
                return Listing(tuple(files), tuple(folders))
        rests = [file.name for file in self._below(place)]
        below = dict.fromkeys(rest.partition("/")[0] for rest in rests if "/" in rest)
        return Listing(tuple(rest for rest in rests if "/" not in rest), tuple(below))

    def files(self, place: str) -> Iterator[File]:
        """Yield every file below a directory, or `place` if it is a file."""
        above, _, name = place.rpartition("/")
        files, _ = self._directories.get(above, ({}, []))
        yield from [files[name]] if name in files else self._below(place)

    def below(self, place: str, name: str) -> str:
        """Return the URL of an entry of a directory."""
        return self.store.below(place, name)

    def opening(self, place: str, name: str, size: int) -> bytes:
        """Return the first bytes of a file in a directory."""
        return self.store.opening(place, name, size)

    def _directory(self, place: str) -> tuple[dict[str, File], list[str]]:
        if place not in self._directories:
            files, folders = self.store.directory(place)
            self._directories[place] = {file.name: file for file in files}, folders
        return self._directories[place]

    def _listed(self, place: str) -> str | None:
        """Return the place at or above a URL whose tree was listed."""
        return next((each for each in (place, *parents(place)) if each in self._trees), None)

    def _below(self, place: str) -> list[File]:
        """Return the files below a directory, or `place` itself if it is a file.

        Everything below `place` is listed first, unless it was listed together with a directory above.
        """
        base = self._listed(place)
        if base is None:
            base, prefix = place, self.prefix if place == self.root else ""
            self._trees[place] = sorted(self.store.files(place, prefix))
        files, inside = self._trees[base], place[len(base) :].strip("/")
        if not files:
            raise FileNotFoundError(f"there is nothing at {place}/{self.prefix}")
        if not inside:
            return files
        at, first, end = (
            bisect_left(files, (inside + after,)) for after in ("", "/", "0")
        )  # `0` follows `/`
        found = [file._replace(name=file.name[len(inside) + 1 :]) for file in files[first:end]]
        same = at < len(files) and files[at].name == inside
        return [*found, files[at]._replace(name=inside.rpartition("/")[2])] if same else found


Storage = LocalStorage | StoredTree


def storage_for(root: str, prefix: str = "", known: SettledRuns = NONE_KNOWN) -> Storage:
    """Return the storage backend for `root`: local files, or an object store for a URL.

    Of an object store, only the files whose names below the root begin with `prefix` are listed, and the
    directories of `known` runs only where they may have changed.

    Raises:
        UsageError: no driver is installed for the URL.
    """
    return StoredTree(ObjectStorage(root), root, prefix, known) if is_url(root) else LocalStorage()


def _file(path: str, name: str) -> File:
    try:
        status = os.stat(path)
    except OSError as error:
        return File(name, 0, 0.0, f"unreadable: {error.errno}")
    return File(name, status.st_size, status.st_mtime, str(status.st_mtime_ns))
