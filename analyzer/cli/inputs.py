"""Turns arguments of commands into local paths; standard input and remote runs are copied."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from analyzer.engine import why_no_rules
from analyzer.model.errors import NothingReadable, UsageError
from analyzer.model.task_names import worker_of

MANY_RUNS = 16
"""Minimum number of directories that are pointed out if they look like runs, before they are read as one."""


@contextmanager
def local_paths(names: Sequence[str]) -> Iterator[list[Path]]:
    """Yield the local path of each name; copies are removed afterwards.

    Raises:
        NothingReadable: standard input is empty, or a URL cannot be downloaded.
        UsageError: a URL has no known protocol, its driver is not installed, or `-` is not the only name.
    """
    if "-" not in names and not any(map(_is_url, names)):
        yield [Path(name) for name in names]
        return
    if "-" in names and len(names) > 1:
        raise UsageError("- means standard input and must be the only argument")
    from analyzer.storage.scratch import ScratchDirectory

    with ScratchDirectory() as folder:
        yield [_local_path(name, Path(folder)) for name in names]


def rule_directory(name: str, option: str = "--rules ") -> Path:
    """Return the path of an existing directory with rule files; `option` begins the message of an error.

    Raises:
        UsageError: there is no such directory, or no rule in it.
    """
    folder = Path(name)
    if why := why_no_rules(folder):
        raise UsageError(f"{option}{name}: {why}")
    return folder


def runs_within(path: Path) -> int:
    """Return the number of directories in a directory if most of the first 16 look like runs, else 0.

    A run has files of two workers or more, by their names.
    """
    folders = sorted(each for each in path.iterdir() if each.is_dir()) if path.is_dir() else []
    alike = sum(map(_has_several_workers, folders[:MANY_RUNS]))
    return len(folders) if len(folders) >= MANY_RUNS and alike > MANY_RUNS / 2 else 0


def _has_several_workers(folder: Path) -> bool:
    return len({worker_of(each.name) for each in folder.iterdir() if each.is_file()} - {None}) > 1


def _is_url(name: str) -> bool:
    return "://" in name


def _local_path(name: str, folder: Path) -> Path:
    if name == "-":
        return _standard_input(folder / "stdin.log")
    return _downloaded(name, folder) if _is_url(name) else Path(name)


def _standard_input(path: Path) -> Path:
    import shutil

    with path.open("wb") as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
    with path.open("rb") as copy:
        if not any(part.strip() for part in iter(lambda: copy.read(1 << 16), b"")):
            raise NothingReadable("standard input was empty")
    return path


def _downloaded(url: str, folder: Path) -> Path:
    from analyzer.storage.object_store import download

    try:
        return download(url, folder)
    except FileNotFoundError as error:
        raise NothingReadable(f"{url}: nothing was found at this URL") from error
    except OSError as error:
        raise NothingReadable(f"{url}: cannot be downloaded: {error.strerror or error}") from error
