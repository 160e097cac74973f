"""Directories of any shape: links in a loop, pipes, sockets, devices, what cannot be read, names of any bytes."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

from analyzer.model.run import Tables
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import printable
from tests.fuzz.target import Case, Seed, real

MOST_NODES = 14
NAMES = (
    b"worker-0.log", b"worker-1.log", b"worker-\xff.log", b"tf_config-0.json", b"exit_codes.txt", b"stdout", b"a",
    b"attempt-0", b"attempt_99999", b"worker-99999999999999999999.log", b"new\nline.log", b"\x1b[31mred.log",
    b"events.out.tfevents.1.x", b"worker-1.xplane.pb", b"pods.json", b"run.tar.gz", b"run.zip", b"worker-0.log.1",
    b"worker-0.log.gz", b"\xed\xa0\x80.log", "wörker-3.log".encode(), b"-rf", b" ", b"\\", b"x" * 250, b"~", b"#",
    "②.log".encode(), "worker-²".encode(), "٣.log".encode(), b"worker-0.log (2)", b"2026-13-45", b"..log"[1:],
)  # fmt: skip


def seeds() -> Iterable[Seed]:
    """Files that lie in such directories."""
    return real(*Kind, most=24, largest=4_000)


def lay(case: Case) -> Path:
    """Make a directory of what chance gives; the input is the chance, and what lies in its files."""
    random, root = Random(case.data), case.folder / "job"
    root.mkdir()
    folders = [root]
    for _ in range(random.randrange(1, MOST_NODES)):
        path = Path(os.fsdecode(os.path.join(os.fsencode(random.choice(folders)), random.choice(NAMES))))  # noqa: PTH118
        with suppress(OSError, ValueError):  # it is there already, or only root may make one
            random.choices(NODES, WEIGHTS)[0](path, case, random)
        if path.is_dir() and not path.is_symlink():
            folders.append(path)
    return root


def _file(path: Path, case: Case, random: Random) -> None:
    with path.open("xb") as file:
        file.write(random.choice((case.data, case.seed.data, b"")))


def _unreadable(path: Path, case: Case, random: Random) -> None:
    if random.random() < 0.5:
        path.mkdir()
    else:
        path.touch(exist_ok=False)  # never through a link that is there: what it leads to would be locked
    path.chmod(0)


def _directory(path: Path, case: Case, random: Random) -> None:
    path.mkdir()


def _deep(path: Path, case: Case, random: Random) -> None:
    (path / "/".join("d" * random.randrange(2, 200))).mkdir(parents=True)


def _link(path: Path, case: Case, random: Random) -> None:
    path.symlink_to(
        random.choice((".", "..", path.name, "worker-0.log", "a", "/dev/zero", "/", "nowhere", "/proc"))
    )


def _pipe(path: Path, case: Case, random: Random) -> None:
    os.mkfifo(path)


def _socket(path: Path, case: Case, random: Random) -> None:
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(os.fsencode(path))


def _device(path: Path, case: Case, random: Random) -> None:
    os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, random.choice((3, 5, 8))))


def _hard_link(path: Path, case: Case, random: Random) -> None:
    found = [each for each in path.parent.iterdir() if each.is_file()]
    os.link(random.choice(found or [path]), path)


NODES: tuple[Callable[[Path, Case, Random], None], ...] = (
    _file, _directory, _link, _pipe, _socket, _device, _unreadable, _deep, _hard_link,
)  # fmt: skip
WEIGHTS = (8, 4, 4, 1, 1, 1, 1, 1, 1)


def wrong(case: Case, tables: Tables) -> Iterator[str]:
    """Each thing in a directory is a source, or is said to be none; no two have one name."""
    sources = dict(tables["sources"].select("source", "read").rows())
    if len(sources) < tables["sources"].height:
        yield "two sources have one name"
    root = case.folder / "job"
    for path in _things(root):
        name = printable(path.relative_to(root).as_posix())
        said = [
            each for each in sources if each == name or each.startswith((f"{name}#", f"{name}/", f"{name} ("))
        ]
        if not said:
            yield f"{name!r} is passed over"
        elif not path.is_file() and "skipped" not in {sources[each] for each in said}:
            yield f"{name!r} is no file, and was read"


def _things(root: Path) -> Iterator[Path]:
    """What stands in a directory and below, links to directories not followed, what is hidden left out."""
    for folder, folders, files in os.walk(root):
        folders[:] = [each for each in folders if not each.startswith(".")]
        links = [each for each in folders if Path(folder, each).is_symlink()]
        yield from (Path(folder, each) for each in (*links, *files) if not each.startswith("."))
