"""Opens what the command writes its output to.

The command writes to a pipe or, if its output was a terminal, to a pseudo-terminal. The observer reads
it, and the supervisor keeps the reading end open too, so that the command survives if either is killed.
Files instead of pipes would survive more, but a full disk would make the command's `print` fail, and a
launcher would see no output.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import termios
import tty
from typing import NamedTuple

NAMES = {1: "stdout", 2: "stderr"}


class Stream(NamedTuple):
    """One output of the command, with the descriptors to read from, to forward to, and of the command."""

    name: str
    reader: int
    target: int
    writers: list[int]
    """File descriptors of the command that write to this stream."""
    child_end: int
    terminal: bool


def open_streams() -> list[Stream]:
    """Open a pipe or pseudo-terminal for stdout and stderr each; one for both if they are the same file."""
    if _is_open(1) and _is_open(2) and os.path.sameopenfile(1, 2):
        return [_open_stream(1, [1, 2])]
    return [_open_stream(number, [number]) for number in NAMES if _is_open(number)]


def _open_stream(target: int, writers: list[int]) -> Stream:
    terminal = os.isatty(target)
    reader, child_end = _terminal(target) if terminal else os.pipe()
    os.set_blocking(reader, False)
    return Stream(NAMES[target], reader, target, writers, child_end, terminal)


def _terminal(like: int) -> tuple[int, int]:
    """Return both ends of a new raw pseudo-terminal with the size of terminal `like`."""
    outer, inner = pty.openpty()
    tty.setraw(inner)
    copy_size(like, outer)
    return outer, inner


def copy_size(source: int, terminal: int) -> None:
    """Copy the window size of terminal `source` to another terminal."""
    with contextlib.suppress(OSError):
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, fcntl.ioctl(source, termios.TIOCGWINSZ, bytes(8)))


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
