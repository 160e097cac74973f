"""Finds the files of a run and assigns them to workers by name, without parsing them.

A file's kind follows from its name, or from its first bytes if the name has no known form.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from analyzer.discover.actions_logs import as_jobs
from analyzer.discover.binary_files import is_binary, is_document
from analyzer.discover.nextflow import OF_TASK, as_tasks
from analyzer.discover.own_reports import reporting_tool
from analyzer.discover.run_name import run_name
from analyzer.discover.split_files import parts_of, with_whole
from analyzer.model.budget import Budget, Limits
from analyzer.model.errors import NothingReadable
from analyzer.model.run import RunDir, Source
from analyzer.model.source_kinds import Kind, kind_by_name, kind_by_opening, kind_of_text
from analyzer.model.task_names import (
    attempt_of,
    counts_up,
    is_archive,
    is_rotated,
    log_of,
    natural_order,
    order_of_part,
    printable,
    worker_of,
)
from analyzer.storage.decompress import opening_of

if TYPE_CHECKING:
    from analyzer.discover.installed_readers import InstalledReader
    from analyzer.storage.scratch import ScratchDirectory

_NOTEBOOK = re.compile(r"(?i)\.ipynb$")
_LOG_SUFFIXES = frozenset({".log", ".out", ".err"})
"""Suffixes of logs; a container runtime makes an empty directory of a log that it cannot find to mount."""
_COMPRESSED = re.compile(r"\.(gz|zst|xz|bz2)$")
OPENING_BYTES = 2_000
"""Bytes read from a file to determine its kind."""
_MAY_BE_LOG = re.compile(
    r"(?:^|/)(?!part-|shard|checkpoint|ckpt|model)(?:[^/.]*(?:\d|worker|chief|master|rank|task)[^/.]*|[^/]+\.(?!sha|md5|crc)(?:[a-z]{2,}[-_]?)?\d{1,5})$"
)
"""Regex for names of logs without a suffix, such as `48213_1`, or with a number or a host as suffix."""
_MAY_BE_POST = re.compile(
    r"(?:^|/)(?!readme|change(?:log|s)\b|contributing|licen[cs]e|notice|security|authors|index\b)[^/]*\.(?:md|markdown|html?)$"
)
"""Regex for names of Markdown or pages in which a user may have saved a post; others describe a program."""
_PRINTED = {Kind.PODS, Kind.SACCT, Kind.NVIDIA_SMI, Kind.DISKS, Kind.PACKAGES}
"""Kinds of files that are the output of a command; a post about it may have its name."""
_JOBLOG = b"Seq\tHost\tStarttime\tJobRuntime\t"
"""How GNU parallel's `--joblog` begins, which its manual names `job.log`."""
_KEYS_OF_KUBECTL = (b'"apiVersion"', b'"kind"', b'"involvedObject"', b"apiVersion: ", b'"containerStatuses"')
"""Keys of what kubectl prints; whoever cuts a list of pods down with jq keeps the state of the containers."""
_PAGE_BYTES = 1_000_000
_PREFORMATTED = re.compile(
    rb"(?i:<(?:pre|code)\b[^<>]*>[^<]*[a-z]{3})"
    rb"|>\s*(?:\d{4}-\d\d-\d\d [\d:.]{15}: [IWEF] |[IWEF]\d{4} [\d:.]{15,} +\d+ |Traceback \(most)"
)
_NO_LINES_OF_A_LOG = re.compile(rb"\A(?![^\n]*\n)|\A(?:#!|[<{\[])|[\0-\7\x0e-\x1a\x1c-\x1f]")


def discover(
    paths: Sequence[Path], readers: Sequence[InstalledReader] = (), limits: Limits | None = None
) -> RunDir:
    """Return the sources of one run in a stable order, with unique names.

    `paths` is one directory, one file, or several; several are named relative to their common directory.
    `readers` of installed packages take precedence over built-in ones. `limits` hold for unpacking archives
    now and for reading the run later.
    Links that leave the run, unreadable directories and special files become sources with a `skip` reason.

    Raises:
        NothingReadable: a path cannot be reached or listed, or there is no file at all.
    """
    for path in paths:
        _require_reachable(path)
    inputs, base = _inputs(paths)
    plain = next(filter(None, (_found(inputs, hidden=hidden) for hidden in (False, True))), {})
    if len(plain) == 1 and not paths[0].is_dir():
        plain = {path: _as_log(source) for path, source in plain.items()}
    split = parts_of(plain.values())
    packed = bool(split) or any(is_archive(source.path) for source in plain.values())
    scratch, budget = _scratch_directory() if packed else None, Budget(limits)
    unpacked = Path(scratch.name if scratch else ".")
    plain = with_whole(plain, split, unpacked, budget)
    alone = len(plain) == 1
    expanded = (_expand_archive(source, unpacked, budget, alone=alone) for source in plain.values())
    sources = list(as_jobs(list(as_tasks(list(_without_notebooks([*chain.from_iterable(expanded)]))))))
    if not sources:
        raise NothingReadable(f"{', '.join(map(str, paths))}: there is no file in it")
    if readers:
        sources = [_with_reader(source, readers) for source in sources]
    if all(source.kind is Kind.OTHER and not source.reader for source in sources):
        sources = [_as_post(source) for source in sources]
    _require_more_than_reports(paths, sources)
    in_order = sorted(_with_rotated_parts(sources), key=lambda source: _natural_key(source.name))
    return RunDir(run_name(base), tuple(_with_unique_names(in_order)), budget, scratch)


def _found(inputs: Iterable[tuple[Path, str]], *, hidden: bool) -> dict[Path, Source]:
    """Return path → source of the files of all inputs; those in hidden directories only if `hidden`."""
    return {source.path: source for path, name in inputs for source in _walk(path, name, hidden=hidden)}


def _without_notebooks(sources: Sequence[Source]) -> Iterator[Source]:
    """Yield the sources; beside other logs, a notebook is a program, whose outputs may be of another run."""
    is_beside = any(each.kind is Kind.LOG and not _NOTEBOOK.search(each.name) for each in sources)
    for source in sources:
        is_program = is_beside and _NOTEBOOK.search(source.name)
        yield source._replace(kind=Kind.OTHER, worker=None) if is_program else source


def _require_reachable(path: Path) -> None:
    try:
        path.stat()
    except OSError as error:
        raise NothingReadable(f"{path}: {(error.strerror or str(error)).lower()}") from error


def _require_more_than_reports(paths: Sequence[Path], sources: Sequence[Source]) -> None:
    """Raise NothingReadable if all sources with a reader are empty, and one or more are reports."""
    read = (source for source in sources if source.kind is not Kind.OTHER or source.reader)
    if any(source.skip or _opening_of(source.path) for source in read):
        return
    if any(reporting_tool(source.name, _opening_of(source.path)) for source in sources if not source.skip):
        given = ", ".join(map(str, paths))
        raise NothingReadable(f"{given}: holds reports of this tool and no log; give the run they are about")


def _inputs(paths: Sequence[Path]) -> tuple[list[tuple[Path, str]], Path]:
    """Return each distinct input with its name in the run, and the path after which the run is named."""
    absolute = list(dict.fromkeys(Path(os.path.abspath(path)) for path in paths))  # noqa: PTH100 - a link keeps its name
    if len(absolute) == 1:
        return [(absolute[0], "" if absolute[0].is_dir() else absolute[0].name)], absolute[0].resolve()
    common = Path(os.path.commonpath(absolute))
    names = [path.relative_to(common).as_posix() for path in absolute]
    return [(path, "" if name == "." else name) for path, name in zip(absolute, names, strict=True)], common


def _with_rotated_parts(sources: Sequence[Source]) -> Iterator[Source]:
    """Yield the sources; rotated parts, as `stdout.1` beside `stdout`, get the worker of their log."""
    logs = [(source, log_of(source.name), _plain(source.name)) for source in sources]
    names = {log for _, log, plain in logs if log == plain}
    for source, log, plain in logs:
        is_part = log != plain and (log in names or counts_up(source.name))
        rotated = source.kind is Kind.LOG and is_part
        yield source._replace(worker=worker_of(log, source.kind)) if rotated else source


def _with_unique_names(sources: Iterable[Source]) -> Iterator[Source]:
    """Yield the sources, renaming duplicates: an archive may contain a name twice."""
    taken: set[str] = set()
    for source in sources:
        variants = chain([source.name], (f"{source.name} ({number})" for number in count(2)))
        name = next(name for name in variants if name not in taken)
        taken.add(name)
        yield source._replace(name=name)


def _expand_archive(source: Source, scratch: Path, budget: Budget, *, alone: bool) -> Iterator[Source]:
    """Yield the members of an archive; a source that is no archive is yielded as it is.

    The names of members begin with that of the archive, unless it is the run's only file (`alone`).
    """
    if source.skip or not is_archive(source.path):
        yield source
        return
    from tempfile import mkdtemp

    from analyzer.storage.archives import unpack

    prefix = "" if alone else f"{source.name}/"
    for member in unpack(source.path, Path(mkdtemp(dir=scratch)), budget):
        name = prefix + member.name if member.name else source.name
        yield _source(member.path, name, member.skip)


def _scratch_directory() -> ScratchDirectory:
    from analyzer.storage.scratch import ScratchDirectory

    return ScratchDirectory()


def _walk(path: Path, name: str, *, hidden: bool) -> Iterator[Source]:
    """Yield the files of one input; `name` is its name in the run, empty for the run itself.

    Hidden directories, such as `.pm2`, are left out unless `hidden`.
    """
    if not path.is_dir():
        yield _source(path, name, _reason_to_skip(path.resolve()))
        return
    prefix = PurePosixPath(name)
    errors: list[OSError] = []

    def skipped(folder: Path, reason: str) -> Source:
        found = printable((prefix / folder.relative_to(path)).as_posix())
        return Source(found, folder, Kind.OTHER, skip=reason)

    for folder, folders, files in os.walk(path, onerror=errors.append):
        folders[:] = sorted(name for name in folders if name != ".git" and (hidden or name[:1] != "."))
        inside = prefix / Path(folder).relative_to(path)
        for subfolder in folders:
            if Path(folder, subfolder).is_symlink():
                yield skipped(Path(folder, subfolder), "a link to a directory, which is not followed")
        visible = sorted(file for file in files if not file.startswith(".") or file in OF_TASK)
        for file in visible:
            own = Path(folder, file)
            yield _source(own, (inside / file).as_posix(), _reason_to_skip(own))
        if not folders and not visible and inside.suffix.lower() in _LOG_SUFFIXES:
            yield _source(Path(folder), inside.as_posix(), "cannot be read: it is an empty directory")
    for error in errors:
        reason = (error.strerror or str(error)).lower()
        if error.filename == str(path):
            raise NothingReadable(f"{path}: {reason}")
        yield skipped(Path(error.filename), f"the directory cannot be listed: {reason}")


def _with_reader(source: Source, readers: Sequence[InstalledReader]) -> Source:
    """Return a source with the installed reader that takes it, if any does."""
    name = _plain(source.name).lower()
    opening = b"" if source.skip else _opening_of(source.path)
    taking = next((reader for reader in readers if reader.takes(name, opening)), None)
    if taking is None:
        return source
    return source._replace(kind=Kind.OTHER, reader=taking.module, kind_name=taking.kind)


def _plain(name: str) -> str:
    """Return a name without the suffix of compression."""
    return _COMPRESSED.sub("", name)


def kind_of(name: str) -> Kind:
    """Return the kind of a file by its name; `Kind.OTHER` if the name has no known form."""
    return kind_by_name(_plain(name).lower())


def _source(path: Path, name: str, skip: str) -> Source:
    name = printable(name)
    kind = kind_of(name)
    if not skip and _is_own_report(path, name, kind):
        return Source(name, path, Kind.OTHER)
    if kind is Kind.OTHER and not skip:
        kind = _kind_by_content(name, _opening_of(path))
    if kind is Kind.LOG and name.lower().endswith(".txt") and not skip:
        kind = kind_of_text(_opening_of(path))
    if kind is Kind.LOG and "job" in name.lower() and not skip and _opening_of(path).startswith(_JOBLOG):
        kind = Kind.EXIT_CODES
    if kind in _PRINTED and not skip and _is_log_of_another_name(kind, name.lower(), _opening_of(path)):
        kind = Kind.LOG
    if kind is Kind.LOG and not skip and is_binary(path):
        skip = "is not text"
    attempt = attempt_of(name)
    number = 1 if attempt is None else attempt
    return Source(name, path, kind, worker_of(name, kind), number, skip)


def _is_own_report(path: Path, name: str, kind: Kind) -> bool:
    """Return True if the tool wrote the file; it is opened only if its kind or suffix may be a report's."""
    may_be = kind is Kind.OTHER or name.lower().endswith((".txt", ".jsonl", ".html", ".htm"))
    return reporting_tool(name, _opening_of(path) if may_be else b"") is not None


def is_report(path: Path) -> bool:
    """Return True for a file that the tool wrote, by its name or its first bytes."""
    return reporting_tool(path.name, _opening_of(path)) is not None


def _as_log(source: Source) -> Source:
    """Return the only file of a run, as a log if it is plain text of unknown kind.

    Raises:
        NothingReadable: it is a report of this tool.
    """
    opening = b"" if source.skip else _opening_of(source.path)
    if tool := reporting_tool(source.name, opening):
        raise NothingReadable(f"{source.path}: a report of {tool}; give the run that it is about")
    if source.kind is not Kind.OTHER or source.skip or b"\0" in opening or is_document(source.path, opening):
        return source
    return source._replace(kind=Kind.LOG, worker=worker_of(source.name))


def _as_post(source: Source) -> Source:
    """Return a file of a run without any log as one if its name says that it is Markdown or a page."""
    name = _plain(source.name).lower()
    is_post = not source.skip and _MAY_BE_POST.search(name)
    if not is_post or reporting_tool(source.name, _opening_of(source.path)) or is_binary(source.path):
        return source
    if not name.endswith(("md", "markdown")) and not _PREFORMATTED.search(
        _opening_of(source.path, _PAGE_BYTES)
    ):
        return source
    return source._replace(kind=Kind.LOG, worker=worker_of(source.name))


def is_export(opening: bytes) -> bool:
    """Return True for the first bytes of a JSON file that a log service exported, rather than kubectl."""
    return (
        not any(key in opening for key in _KEYS_OF_KUBECTL)
        and kind_by_opening(opening, [Kind.LOG]) is Kind.LOG
    )


def _is_log_of_another_name(kind: Kind, name: str, opening: bytes) -> bool:
    """Return True if a file holds a log, though its name is usual for a command's output: `nvsmi.txt`."""
    if kind is Kind.PODS and name.endswith((".json", ".yaml", ".yml")):
        return is_export(opening)
    return name.endswith(".txt") and kind_by_opening(opening, (kind, Kind.LOG)) is Kind.LOG


def _kind_by_content(name: str, opening: bytes) -> Kind:
    """Return the kind that a file's first bytes show; other text is a log if its name suggests one."""
    kind = kind_by_opening(opening)
    may_be_log = kind is Kind.OTHER and _MAY_BE_LOG.search(_plain(name).lower())
    return Kind.LOG if may_be_log and not _NO_LINES_OF_A_LOG.search(opening) else kind


def _opening_of(path: Path, size: int = OPENING_BYTES) -> bytes:
    """Return the first bytes of a file, of its contents if it is compressed; none if it cannot be read."""
    try:
        return opening_of(path, size)
    except OSError:
        return b""


def _reason_to_skip(path: Path) -> str:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        return f"cannot be opened: {error.strerror}"
    if path.is_symlink() and path.parent.resolve() not in path.resolve().parents:
        return "a link to outside its directory"
    return "" if stat.S_ISREG(mode) else "not a regular file"


def _natural_key(name: str) -> tuple[list[tuple[int, str]], int]:
    """Return a key that sorts names by their numbers, and the parts of a rotated log from the oldest on."""
    base = log_of(name) if is_rotated(name) else _plain(name)
    return natural_order(base), order_of_part(name)
