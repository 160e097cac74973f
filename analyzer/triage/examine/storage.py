"""Lists the files of runs in local directories and in object stores."""

import os
import stat
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from analyzer.storage.object_store import File, ObjectStorage, is_url


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


Storage = LocalStorage | StoredTree


def storage_for(root: str, prefix: str = "") -> Storage:
    """Return the storage backend for `root`: local files, or an object store for a URL.

    Of an object store, only the files whose names below the root begin with `prefix` are listed.

    Raises:
        UsageError: no driver is installed for the URL.

    """
    return StoredTree(ObjectStorage(root), root, prefix) if is_url(root) else LocalStorage()


def _file(path: str, name: str) -> File:
    try:
        status = os.stat(path)
    except OSError as error:
        return File(name, 0, 0.0, f"unreadable: {error.errno}")
    return File(name, status.st_size, status.st_mtime, str(status.st_mtime_ns))
