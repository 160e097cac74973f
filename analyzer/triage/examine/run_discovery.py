"""Finds the runs below a root by the names of files and directories, and by the first bytes of a few files.

A run is a directory with a log (or TF_CONFIG, event file, trace), or a directory whose subdirectories
belong to workers or attempts, or whose logs state that they are those of one job. A stray file beside several
runs does not make them one run.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from itertools import islice
from typing import NamedTuple

from analyzer.discover import OPENING_BYTES, is_export, kind_of
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import ARCHIVE_SUFFIX, attempt_of, worker_of
from analyzer.storage.object_store import File, is_url
from analyzer.triage.dates import midnight
from analyzer.triage.examine.one_job import is_one_job
from analyzer.triage.examine.output_folders import is_output_folder, without_outputs
from analyzer.triage.examine.settled_runs import NONE_KNOWN, QUIET_SECONDS, SettledRuns, StoredRun
from analyzer.triage.examine.storage import Listing, Storage, storage_for

_PART_NAMES = frozenset(
    {"artifacts", "checkpoints", "ckpt", "config", "configs", "env", "eval", "events", "kubectl", "log"}
    | {"logs", "meta", "metrics", "out", "output", "outputs", "pods", "profile", "run", "slurm", "stderr"}
    | {"azureml-logs", "stdout", "system_logs", "tb", "tensorboard", "traces", "train", "user_logs"}
    | {"validation"}
)
"""Names of directories that are parts of a run, in addition to names of workers and attempts."""
_MIN_PARTS = 2
_MAX_DEPTH = 40
"""Maximum depth of the search below a root, in directories."""
_STATING_BYTES = 65_536
"""Number of bytes read from the start of a log to find its cluster and task."""
_MAX_OPENED = 4
"""Maximum number of files opened in a directory."""
_EXPORT = re.compile(r"\.(nd)?json$", re.IGNORECASE)
_RUN_FILE_KINDS = frozenset({Kind.LOG, Kind.TF_CONFIG, Kind.EVENT_FILE, Kind.TRACE})
"""Kinds of files that occur only in runs."""
_STATING_KINDS = frozenset({Kind.LOG, Kind.TF_CONFIG, Kind.ENVIRONMENT})
"""Kinds of files that may state the cluster of their job."""


class FoundRun(NamedTuple):
    """Location, digest and age of a run below a root."""

    place: str
    """Path or URL as history and reports show it; bytes that are not UTF-8 become `\\x..`."""
    path: str
    """Path or URL for opening the run."""
    stamp: str
    """Digest of the names, sizes and times (in object stores: ETags) of the run's files."""
    age: float
    """Seconds since the last write to a file of the run, without sign, since clocks may differ."""
    written: float
    """Time of the last write to a file of the run, in seconds since the epoch."""
    files: int
    """Number of its files."""


class UnlistedDirectory(NamedTuple):
    """Directory that could not be listed, and the reason."""

    place: str
    reason: str


OnUnlisted = Callable[[UnlistedDirectory], None]


def find_runs(
    root: str,
    now: float,
    on_unlisted: OnUnlisted,
    pattern: str | None = None,
    leave_out: str = "",
    known: SettledRuns = NONE_KNOWN,
) -> Iterator[FoundRun]:
    """Yield each directory, archive or file below a root that holds one run, ordered by name.

    With a `pattern` such as `*/run`, the runs are the directories and files below the root that match it.
    `leave_out` is skipped, and so is what mwms-triage wrote into any directory. Directories that cannot be
    listed are passed to `on_unlisted`.
    `known` runs of an object store are listed only if they may have changed.

    Raises:
        UsageError: no driver is installed for the root's URL.
    """
    before_wildcard = re.split(r"[*?[]", (pattern or "").lstrip("/"), maxsplit=1)[0]
    storage = storage_for(root, before_wildcard, known)
    start = root.rstrip("/") if is_url(root) else os.path.abspath(root)
    for place in run_places(storage, start, on_unlisted, pattern, leave_out):
        if settled := storage.settled(place):
            yield from (_unchanged(run, now) for run in settled)
            continue
        try:
            files = list(storage.files(place))
        except OSError as error:
            on_unlisted(_unlisted(place, _reason(error)))
            continue
        if files:
            age = min(abs(now - each.changed) for each in files)
            written = max(each.changed for each in files)
            yield FoundRun(printable_place(place), place, stamp_of(files), age, written, len(files))


def run_places(
    storage: Storage, start: str, on_unlisted: OnUnlisted, pattern: str | None = None, leave_out: str = ""
) -> Iterator[str]:
    """Return an iterator over the path or URL of each run at or below `start`; see `find_runs`."""
    if pattern is None:
        return _walk(storage, start, on_unlisted, leave_out)
    return _matching(storage, start, on_unlisted, pattern, leave_out)


def _unchanged(run: StoredRun, now: float) -> FoundRun:
    """Return a settled run with the stamp of its last listing; the start of its night counts as its time."""
    written = midnight(run.night)
    age = max(now - written, QUIET_SECONDS)
    return FoundRun(run.place, run.place, run.stamp, age, written, run.files or 0)


def stamp_of(files: Iterable[File]) -> str:
    """Return 32 hexadecimal digits that change when a file is added, removed or written."""
    whole = hashlib.blake2b(digest_size=16)
    for name, size, _, version in sorted(files):
        whole.update(f"{name}\0{size}\0{version}\n".encode("utf-8", "surrogateescape"))
    return whole.hexdigest()


def printable_place(place: str) -> str:
    """Return a path or URL as text that any database can store; distinct ones stay distinct."""
    return place.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def is_run(storage: Storage, place: str, listing: Listing) -> bool:
    """Return True if a directory with this listing is one run, rather than a parent of runs."""
    if _has_names_of_run(storage, place, listing):
        return True
    known = any(storage.settled(storage.below(place, folder)) for folder in listing.folders)
    return not known and is_one_job(_openings(storage, place, listing))


def _openings(storage: Storage, place: str, listing: Listing) -> Iterator[tuple[str, bytes]]:
    """Yield (subdirectory, first bytes of its logs) for each subdirectory with logs."""
    for folder in listing.folders:
        below = storage.below(place, folder)
        inside = _listing_or_none(storage, below)
        logs = (name for name in inside.files if kind_of(name) in _STATING_KINDS) if inside else iter(())
        if opened := [_opening(storage, below, name, _STATING_BYTES) for name in islice(logs, _MAX_OPENED)]:
            yield folder, b"\n".join(opened)


def _opening(storage: Storage, place: str, name: str, size: int) -> bytes:
    try:
        return storage.opening(place, name, size)
    except OSError:
        return b""


def _has_names_of_run(storage: Storage, place: str, listing: Listing) -> bool:
    """Return True if the names show one run: those of its files, or of subdirectories that hold its parts."""

    def has_content(folder: str, depth: int = 0) -> bool:
        return _has_run_content(storage, storage.below(place, folder), depth)

    if _has_run_files(listing) or _has_export(storage, place, listing):
        if any(_names_worker_or_attempt(name) for name in listing.files):
            return True
        others = (folder for folder in listing.folders if not _is_part(folder) and has_content(folder))
        return sum(1 for _, _ in zip(range(_MIN_PARTS), others, strict=False)) < _MIN_PARTS
    parts = {folder for folder in listing.folders if _is_part(folder)}
    if parts or any(map(_names_repeated_task, listing.folders)):
        parts |= {folder for folder in listing.folders if _is_recorded_task(storage, place, folder)}
    if len(parts) < _MIN_PARTS:  # asking for their content takes a request for each
        return False
    if sum(has_content(each, each.lower() in _PART_NAMES) for each in parts) < _MIN_PARTS:
        return False
    return not any(has_content(folder) for folder in listing.folders if folder not in parts)


def _has_run_content(storage: Storage, place: str, depth: int) -> bool:
    """Return True if a directory, or one up to `depth` levels below it, has files or names only runs have."""
    inside = _listing_or_none(storage, place)
    if inside is None:
        return False
    if _has_run_files(inside) or any(map(_names_worker_or_attempt, inside.folders)):
        return True
    below = (storage.below(place, name) for name in inside.folders) if depth > 0 else ()
    return any(_has_run_content(storage, each, depth - 1) for each in below)


def _walk(
    storage: Storage, place: str, on_unlisted: OnUnlisted, leave_out: str, depth: int = 0
) -> Iterator[str]:
    """Yield the path or URL of each run at or below `place`; an archive is a run."""
    if _is_left_out(place, leave_out):
        return
    if storage.settled(place):
        yield place
        return
    if depth > _MAX_DEPTH:
        on_unlisted(_unlisted(place, f"it is more than {_MAX_DEPTH} directories deep"))
        return
    try:
        listing = without_outputs(storage.listing(place))
    except NotADirectoryError:
        yield place
        return
    except OSError as error:
        on_unlisted(_unlisted(place, _reason(error)))
        return
    if is_run(storage, place, listing):
        yield place
        return
    for name in sorted({*listing.folders, *filter(ARCHIVE_SUFFIX.search, listing.files)}):
        below = storage.below(place, name)
        if name in listing.folders:
            yield from _walk(storage, below, on_unlisted, leave_out, depth + 1)
        else:
            yield below


def _matching(
    storage: Storage, place: str, on_unlisted: OnUnlisted, pattern: str, leave_out: str
) -> Iterator[str]:
    """Yield the directories and files below `place` that match a pattern, component by component."""
    part, _, rest = pattern.strip("/").partition("/")
    try:
        listing = without_outputs(storage.listing(place))
    except OSError as error:
        on_unlisted(_unlisted(place, _reason(error)))
        return
    for name in listing.folders if rest else sorted({*listing.folders, *listing.files}):
        below = storage.below(place, name)
        if not fnmatchcase(name, part) or _is_left_out(below, leave_out):
            continue
        if rest:
            yield from _matching(storage, below, on_unlisted, rest, leave_out)
        elif name not in listing.folders or not _is_output(storage, below):
            yield below


def _is_left_out(place: str, leave_out: str) -> bool:
    return bool(leave_out) and os.path.realpath(place) == leave_out


def _is_output(storage: Storage, place: str) -> bool:
    """Return True for an output directory of mwms-triage, unless the history has it as a settled run."""
    try:
        return not storage.settled(place) and is_output_folder(storage.listing(place))
    except OSError:
        return False


def _has_run_files(listing: Listing) -> bool:
    """Return True if the directory has a file of a kind that occurs only in runs."""
    return any(map(_is_run_file, listing.files))


def _is_run_file(name: str) -> bool:
    """Return True for a file of a kind that occurs only in runs; SageMaker has logs called `algo-1-1772`."""
    by_name = kind_of(name) in _RUN_FILE_KINDS or ("." not in name and _names_worker_or_attempt(name))
    return by_name and not ARCHIVE_SUFFIX.search(name)


def _has_export(storage: Storage, place: str, listing: Listing) -> bool:
    """Return True if a file in the directory begins like the export of a log service."""
    named = islice(filter(_EXPORT.search, listing.files), _MAX_OPENED)
    return any(is_export(_opening(storage, place, name, OPENING_BYTES)) for name in named)


def _is_recorded_task(storage: Storage, place: str, folder: str) -> bool:
    """Return True for a task's directory by mwms-recorder, named after the host if TF_CONFIG is unset."""
    inside = _listing_or_none(storage, storage.below(place, folder))
    return inside is not None and "recording.jsonl" in inside.files


def _names_repeated_task(folder: str) -> bool:
    """Return True for `gpu07.2`, the second recording by mwms-recorder of a task that its host names."""
    stem, _, number = folder.rpartition(".")
    return bool(stem) and number.isdecimal()


def _is_part(folder: str) -> bool:
    return folder.lower() in _PART_NAMES or _names_worker_or_attempt(folder)


def _names_worker_or_attempt(name: str) -> bool:
    return worker_of(name, Kind.OTHER) is not None or attempt_of(name) is not None


def _listing_or_none(storage: Storage, place: str) -> Listing | None:
    try:
        return without_outputs(storage.listing(place))
    except OSError:
        return None


def _unlisted(place: str, reason: str) -> UnlistedDirectory:
    return UnlistedDirectory(printable_place(place), reason)


def _reason(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file or directory"
    return (error.strerror or str(error) or type(error).__name__).lower()
