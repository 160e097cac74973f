"""Tells where outputs must not go: into a run, or beside runs that they would hide."""

import os
from pathlib import Path

from analyzer.storage.object_store import ObjectStorage, is_url
from analyzer.triage.examine.output_folders import is_output_folder, without_outputs
from analyzer.triage.examine.run_discovery import UnlistedDirectory, is_run, printable_place, run_places
from analyzer.triage.examine.storage import Listing, Storage, storage_for


def enclosing_run(path: str, root: str) -> str | None:
    """Return the path of the run below a local root that contains `path`, or None."""
    base, inner = os.path.realpath(root), os.path.realpath(path)
    if os.path.commonpath([base, inner]) != base:
        return None
    storage, place = storage_for(base), Path(base)
    for part in ["", *Path(inner).relative_to(base).parts]:
        place /= part
        if not place.is_dir() or place.name.startswith("."):
            return None
        if is_run(storage, str(place), without_outputs(storage.listing(str(place)))):
            return str(place)
    return None


def hidden_run(folder: str, root: str, pattern: str | None = None) -> str | None:
    """Return the place of a run that outputs in `folder` would hide from calls on `root`, or None.

    In an object store, a directory that has outputs already is not listed again.
    """
    place, base = resolved(folder), resolved(root)
    if not _lies_in(place, base):
        return None
    storage = storage_for(base)
    if is_url(base) and _has_stored_outputs(place):
        return None
    found = (
        run_places(storage, place, _ignore)
        if pattern is None
        else (each for each in run_places(storage, base, _ignore, pattern) if _lies_in(each, place))
    )
    return next((printable_place(each) for each in found if _has_files(storage, each)), None)


def resolved(place: str) -> str:
    """Return a path with links resolved; a URL without slashes at its end."""
    return place.rstrip("/") if is_url(place) else os.path.realpath(place)


def _lies_in(place: str, folder: str) -> bool:
    return place == folder or place.startswith(folder.rstrip("/") + "/")


def _has_stored_outputs(url: str) -> bool:
    try:
        files, folders = ObjectStorage(url).directory(url)
    except OSError:
        return False
    return is_output_folder(Listing(tuple(file.name for file in files), tuple(folders)))


def _has_files(storage: Storage, place: str) -> bool:
    try:
        return any(True for _ in storage.files(place))
    except OSError:
        return False


def _ignore(_: UnlistedDirectory) -> None:
    return
