"""Records by inotify which files were opened or read."""

from __future__ import annotations

import ctypes
import os
import struct
import weakref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)
IN_ACCESS = 0x01
IN_OPEN = 0x20
EVENT = struct.Struct("iIII")


@dataclass
class FileReads:
    """Records which of the watched files were opened or read since `watch`."""

    descriptor: int = field(default_factory=lambda: _inotify(), init=False)
    watched: dict[int, Path] = field(default_factory=dict, init=False)
    read: set[Path] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        """Let the garbage collector close the inotify instance, of which a user may have 128."""
        self._closing = weakref.finalize(self, os.close, self.descriptor)

    def watch(self, path: Path) -> None:
        """Start to watch a file, also after a rename; raise OSError if inotify refuses."""
        number = LIBC.inotify_add_watch(self.descriptor, bytes(path), IN_ACCESS | IN_OPEN)
        if number < 0:
            raise OSError(ctypes.get_errno(), "inotify_add_watch", str(path))
        self.watched[number] = path

    def saw(self, path: Path) -> bool:
        """Return True if a watched file was opened or read."""
        self._collect()
        return path in self.read

    def _collect(self) -> None:
        try:
            while events := os.read(self.descriptor, 1 << 16):
                self._note(events)
        except BlockingIOError:
            return

    def _note(self, events: bytes) -> None:
        place = 0
        while place < len(events):
            number, _, _, length = EVENT.unpack_from(events, place)
            place += EVENT.size + length
            if number in self.watched:
                self.read.add(self.watched[number])

    def close(self) -> None:
        """Stop watching all files."""
        self._closing()


def _inotify() -> int:
    """Return a new instance of inotify; raise OSError if the user has too many."""
    descriptor: int = LIBC.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), "inotify_init1: see /proc/sys/fs/inotify/max_user_instances")
    return descriptor
