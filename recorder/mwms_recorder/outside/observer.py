"""Watches the command from a separate process: forwards output, takes samples, detects stalls."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import threading
import time
from typing import Callable, NoReturn

from mwms_recorder.host import cgroup, facts, proc
from mwms_recorder.journal import Journal
from mwms_recorder.outside.launch import Stream
from mwms_recorder.outside.pump import Pump
from mwms_recorder.outside.reach import reach
from mwms_recorder.outside.samples import Sampler
from mwms_recorder.outside.signals import ObserverSignals, forwarded
from mwms_recorder.outside.stalls import Stalls
from mwms_recorder.outside.task import DRAINED, Link, own_task, peers, remove_pages, tf_config
from mwms_recorder.settings import Settings

TICK_SECONDS = 1.0
RETRIES = (10.0, 30.0, 90.0)
"""Seconds after the start at which the peers are probed again, until all are reachable."""
REACH_SECONDS = 3.0


def observe(
    settings: Settings, pid: int, streams: list[Stream], signals: ObserverSignals, link: Link
) -> NoReturn:
    """Run the observer's process: watch the command until it has ended, then exit."""
    try:
        for number in forwarded():
            signal.signal(number, signals.count)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        Observer(settings, pid).run(streams, link)
    finally:
        os._exit(0)


class Observer:
    """Observes one command, or the process that called `mwms_recorder.start()`."""

    def __init__(self, settings: Settings, pid: int) -> None:
        self.settings, self.pid = settings, pid
        self.journal = Journal(os.path.join(settings.directory, "recording.jsonl"))
        self.begin, self.parent = time.monotonic(), os.getppid()
        self.ended = threading.Event()
        self.config = tf_config(os.environ)
        self.peers = peers(self.config) if settings.records("reach") else []
        self.sampler = Sampler(settings, pid)
        ports = [peer.address.rpartition(":")[2] for peer in self.peers]
        self.sampler.ports.update(int(port) for port in ports if port.isdigit())
        self.stalls = Stalls(settings, self.journal, lambda: self.probe("stall", REACH_SECONDS))

    def run(self, streams: list[Stream], link: Link) -> None:
        """Forward the output until the command and its streams end; other threads watch meanwhile."""
        self.start()
        pump = Pump(streams, self.settings.directory, self.journal)
        listening = [link.reader]
        while pump.open or listening or not self.ended.is_set():
            ready = select.select([*pump.open, *listening], [], [], None if listening else TICK_SECONDS)[0]
            for stream in [pump.open[number] for number in ready if number in pump.open]:
                if not pump.pump(stream):
                    self._report_closed(stream, link)
            if link.reader in ready:
                listening = []
                self._hear(os.read(link.reader, 1), pump, link)
            elif not listening and not self.ended.is_set():
                self.end_unless_alive()
        pump.flush(REACH_SECONDS)

    def _report_closed(self, stream: Stream, link: Link) -> None:
        """Tell the supervisor that nobody reads a stream any more, and wake it up."""
        _say(link, bytes([stream.target]))
        if os.getppid() == self.parent:
            os.kill(self.parent, signal.SIGCHLD)

    def watch(self) -> None:
        """Record until the watched process, which called `mwms_recorder.start()`, has ended."""
        self.start()
        while not self.ended.wait(TICK_SECONDS):
            self.end_unless_alive()

    def start(self) -> None:
        """Start the threads that write facts, probe peers, and take samples and look for stalls."""
        for part in (self._write_facts, self._probe_at_start, self._tick):
            threading.Thread(target=self._guarded, args=(part,), daemon=True).start()

    def _guarded(self, part: Callable[[], None]) -> None:
        """Run a part; record an exception as `recorder_failed` instead of raising it."""
        try:
            part()
        except Exception:  # noqa: BLE001 - any failure: the command goes on
            import traceback

            self.journal.append("recorder_failed", part=part.__name__, error=traceback.format_exc(limit=-4))

    def _write_facts(self) -> None:
        self.journal.append("facts", tf_config=self.config, **facts.facts(self.settings, self.pid))

    def _probe_at_start(self) -> None:
        reason = "start"
        for wait in (*RETRIES, 0.0):
            if not self.peers or self.probe(reason, REACH_SECONDS):
                return
            if self.ended.wait(max(0.0, self.begin + wait - time.monotonic())):
                return
            reason = "retry"

    def probe(self, reason: str, timeout: float) -> bool:
        """Probe and record which peers accept connections; return True if all do."""
        own = own_task(self.config)
        targets = reach(self.peers, ":".join(own) if own else None, timeout)
        if targets:
            self.journal.append("reach", reason=reason, targets=targets)
        return all(target["outcome"] == "open" for target in targets)

    def _tick(self) -> None:
        """Look for stalls every second, and take a sample every `interval` seconds, until the end."""
        due = self.begin
        while not self.ended.is_set():
            now = time.monotonic()
            pages = self.sampler.pages()
            self.sampler.look(pages)
            self.stalls.look(pages, now)
            if now >= due:
                self.sampler.take(pages)
                due = max(due + self.settings.interval, now)
            self.ended.wait(TICK_SECONDS)

    def _hear(self, word: bytes, pump: Pump, link: Link) -> None:
        """End the recording when the supervisor reports the end; an empty `word` means that it has died."""
        if not word:
            self.journal.append("supervisor_lost", pid=self.parent)
            return
        self.ended.set()
        pump.drain()
        self._take_last_sample()
        pump.flush(REACH_SECONDS)
        _say(link, DRAINED)
        if word == b"F" and self.peers:
            self.probe("end", 1.0)
        os.close(link.writer)

    def _take_last_sample(self) -> None:
        self.sampler.take(self.sampler.pages(ended=True))
        self.journal.append("disks", disks=facts.disks(self.settings.directory))

    def end_unless_alive(self) -> None:
        """If the process has ended, record the end without exit status, which is unknown here."""
        if not proc.alive(self.pid):
            self.ended.set()
            self._take_last_sample()
            gone = {"exit_code": None, "signal": None, "unknown": True, "cgroup": cgroup.read()}
            self.journal.append("end", **gone, seconds=round(time.monotonic() - self.begin, 3))


def _say(link: Link, word: bytes) -> None:
    with contextlib.suppress(OSError):
        os.write(link.writer, word)


def attach() -> None:
    """Watch a process until its end, detached from it; arguments: settings as JSON, process ID."""
    if os.fork():
        os._exit(0)
    settings, pid = Settings(**json.loads(sys.argv[1])), int(sys.argv[2])
    Observer(settings, pid).watch()
    remove_pages(settings.pages)


if __name__ == "__main__":
    attach()
