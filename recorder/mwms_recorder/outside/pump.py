"""Forwards the command's output byte for byte, and stores a copy with an index of times."""

from __future__ import annotations

import os
import queue
import select
import threading
import time

from mwms_recorder.journal import Journal
from mwms_recorder.outside.launch import Stream

CHUNK = 1 << 16
INDEX_SECONDS = 0.5
MAX_BEHIND = 256
"""Maximum number of chunks that wait for a slow disk; more are forwarded, but missing in the log."""


class Log:
    """Copies a stream to a file in a thread, so that a hanging disk does not block the command."""

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
        """Queue bytes for the file; they are lost if too many chunks are waiting."""
        self._chunks.put(chunk)

    def flush(self, timeout: float) -> None:
        """Wait until all queued bytes are written, at most `timeout` seconds."""
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
    """Reads the streams, forwards them, and copies them to their logs."""

    def __init__(self, streams: list[Stream], directory: str, journal: Journal) -> None:
        self.open: dict[int, Stream] = {stream.reader: stream for stream in streams}
        self._logs = {stream.name: Log(directory, stream.name, journal) for stream in streams}

    def drain(self) -> list[Stream]:
        """Forward all available output; return the streams whose target is closed."""
        return [stream for stream in list(self.open.values()) if not self.pump(stream)]

    def pump(self, stream: Stream) -> bool:
        """Forward the available output of one stream; return False if its target is closed."""
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
        """Stop reading a stream, and close its reading end."""
        del self.open[stream.reader]
        os.close(stream.reader)

    def flush(self, timeout: float) -> None:
        """Wait until all logs have written their queued bytes, at most `timeout` seconds each."""
        for log in self._logs.values():
            log.flush(timeout)


def _read(reader: int) -> bytes | None:
    """Return available bytes; empty at the end of the stream, None if there are none yet."""
    try:
        return os.read(reader, CHUNK)
    except BlockingIOError:
        return None
    except OSError:
        return b""  # a pseudo-terminal whose other end was closed


def pass_on(target: int, chunk: bytes) -> bool:
    """Write all bytes to a descriptor, waiting if necessary; return False if it is closed."""
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
