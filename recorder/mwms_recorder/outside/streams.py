"""Passes the command's output on, byte for byte, and keeps a copy with an index of times.

The command writes into a pipe, or into a pseudo-terminal where it was given a terminal. The observer
empties it; the supervisor holds its reading end too: when either is killed, the command goes on. Straight
into files would survive more, but then a full disk of the recording would fail the command's own `print`,
and a launcher would see no output.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import queue
import select
import termios
import threading
import time
import tty
from dataclasses import dataclass

from mwms_recorder.journal import Journal

NAMES = {1: "stdout", 2: "stderr"}
CHUNK = 1 << 16
INDEX_SECONDS = 0.5
MAX_BEHIND = 256
"""Chunks that wait for a slow disk; what comes then is passed on and missing in the log."""


@dataclass(frozen=True)
class Stream:
    """One output of the command: where it is read, where it goes, and the command's end of it."""

    name: str
    reader: int
    target: int
    writers: list[int]
    """File descriptors of the command that are this stream."""
    child_end: int
    terminal: bool


def open_streams() -> list[Stream]:
    """Make a pipe or pseudo-terminal for stdout and stderr; one for both where both are the same file."""
    if _is_open(1) and _is_open(2) and os.path.sameopenfile(1, 2):
        return [_open_stream(1, [1, 2])]
    return [_open_stream(number, [number]) for number in NAMES if _is_open(number)]


def _open_stream(target: int, writers: list[int]) -> Stream:
    terminal = os.isatty(target)
    reader, child_end = _terminal(target) if terminal else os.pipe()
    os.set_blocking(reader, False)
    return Stream(NAMES[target], reader, target, writers, child_end, terminal)


def _terminal(like: int) -> tuple[int, int]:
    """Open a pseudo-terminal that changes no byte and has the size of another one."""
    outer, inner = pty.openpty()
    tty.setraw(inner)
    copy_size(like, outer)
    return outer, inner


def copy_size(source: int, terminal: int) -> None:
    """Give a terminal the size of another one."""
    with contextlib.suppress(OSError):
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, fcntl.ioctl(source, termios.TIOCGWINSZ, bytes(8)))


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


class Log:
    """Copies a stream to a file, in a thread of its own: a disk that hangs must not hold the command up."""

    def __init__(self, directory: str, name: str, journal: Journal) -> None:
        self._path = os.path.join(directory, f"{name}.log")
        self._index = Journal(os.path.join(directory, f"{name}.index.jsonl"))
        self._name, self._journal = name, journal
        self._chunks: queue.Queue[bytes | threading.Event] = queue.Queue()
        self._offset = self._lost = 0
        self._error = ""
        self._indexed = 0.0
        threading.Thread(target=self._write_chunks, daemon=True).start()

    def write(self, chunk: bytes) -> None:
        """Take bytes; they are lost when too many wait already."""
        self._chunks.put(chunk)

    def flush(self, timeout: float) -> None:
        """Write what waits, for at most `timeout` seconds."""
        written = threading.Event()
        self._chunks.put(written)
        written.wait(timeout)

    def _write_chunks(self) -> None:
        file: int | None = None
        while True:
            chunk = self._chunks.get()
            if isinstance(chunk, threading.Event):
                self._report_gap()
                chunk.set()
                continue
            try:
                file = self._opened() if file is None else file
            except OSError as error:
                self._miss(len(chunk), str(error))
            else:
                self._write(file, chunk)

    def _opened(self) -> int:
        file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self._offset = os.fstat(file).st_size
        return file

    def _write(self, file: int, chunk: bytes) -> None:
        if self._chunks.qsize() > MAX_BEHIND:
            return self._miss(len(chunk), "the disk is too slow")
        self._note_time()
        try:
            while chunk:
                written = os.write(file, chunk)
                self._offset += written
                chunk = chunk[written:]
        except OSError as error:
            return self._miss(len(chunk), str(error))
        return self._report_gap()

    def _note_time(self) -> None:
        now = time.time()
        if abs(now - self._indexed) >= INDEX_SECONDS:
            self._indexed = now
            self._index.append_line(f"[{self._offset}, {now:.3f}]")

    def _miss(self, count: int, error: str) -> None:
        self._lost += count
        self._error = error

    def _report_gap(self) -> None:
        where = {"stream": self._name, "offset": self._offset, "bytes": self._lost, "error": self._error}
        if self._lost and self._journal.append("stream_gap", **where):
            self._lost = 0


class Pump:
    """Reads the streams, passes them on, and copies them to their logs."""

    def __init__(self, streams: list[Stream], directory: str, journal: Journal) -> None:
        self.open: dict[int, Stream] = {stream.reader: stream for stream in streams}
        self._logs = {stream.name: Log(directory, stream.name, journal) for stream in streams}

    def drain(self) -> list[Stream]:
        """Pass on all that can be read now; return streams whose reader has gone."""
        return [stream for stream in list(self.open.values()) if not self.pump(stream)]

    def pump(self, stream: Stream) -> bool:
        """Pass on what one stream holds until it is empty or ends; return whether its target takes it."""
        while stream.reader in self.open:
            chunk = _read(stream.reader)
            if chunk is None:
                return True
            if not chunk:
                self.close(stream)
            elif not pass_on(stream.target, chunk):
                self.close(stream)
                return False
            else:
                self._logs[stream.name].write(chunk)
        return True

    def close(self, stream: Stream) -> None:
        """Read a stream no more."""
        del self.open[stream.reader]
        os.close(stream.reader)

    def flush(self, timeout: float) -> None:
        """Write what the logs have not written yet."""
        for log in self._logs.values():
            log.flush(timeout)


def _read(reader: int) -> bytes | None:
    """Return some bytes, none at the end, None when there are none yet."""
    try:
        return os.read(reader, CHUNK)
    except BlockingIOError:
        return None
    except OSError:
        return b""  # a pseudo-terminal whose other end was closed


def pass_on(target: int, chunk: bytes) -> bool:
    """Write all bytes, as the command would have done; return False when nobody reads them any more."""
    try:
        while chunk:
            select.select([], [target], [])  # it may be set to non-blocking
            chunk = chunk[_write(target, chunk) :]
    except OSError:
        return False
    return True


def _write(target: int, chunk: bytes) -> int:
    try:
        return os.write(target, chunk)
    except BlockingIOError:
        return 0
