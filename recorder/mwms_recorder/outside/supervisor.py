"""Forwards signals to the command, records how it ended, and passes on its exit status.

    supervisor ──fork──→ command
        └──────fork────→ observer: output, samples, reachability, stalls

The supervisor does nothing that could block. It restarts the observer if the observer is killed.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import time
from typing import Any, NoReturn

from mwms_recorder import __version__
from mwms_recorder.host import cgroup, proc
from mwms_recorder.journal import Journal, masked_command
from mwms_recorder.outside.launch import NAMES, Launched, copy_size
from mwms_recorder.outside.pump import Pump
from mwms_recorder.outside.signals import SI_KERNEL, ObserverSignals, awaited, named
from mwms_recorder.outside.task import DRAINED, SCHEMA, Link, remove_pages

MAX_OBSERVERS = 3
LAST_WORDS_SECONDS = 1.5
"""Maximum delay of a failed command's exit status, in seconds, while the observer probes the peers."""


class Supervisor:
    """Records one command, which has been started."""

    def __init__(self, launched: Launched) -> None:
        self.settings, self.command, self.named_task, self.pid, self.streams, self.begin = launched
        self.journal = Journal(os.path.join(self.settings.directory, "recording.jsonl"))
        self.observer_signals = ObserverSignals()
        self.asked = False
        self.observers = 0

    def run(self) -> NoReturn:
        """Wait for the command, and end with its exit status or signal."""
        self._start_observer()
        self._record_start()
        status, usage = self._wait()
        self._end_observer(failed=status != 0)
        self._record_end(status, usage)
        remove_pages(self.settings.pages)
        end_like(status)

    def _start_observer(self) -> None:
        """Fork the observer, linked by two pipes; it reports descriptors of outputs that are closed."""
        reader, self._tell = os.pipe()
        self._hear, writer = os.pipe()
        os.set_blocking(self._hear, False)
        self.observers += 1
        self.observer = os.fork()
        if self.observer == 0:
            os.close(self._tell)
            os.close(self._hear)
            self._observe(Link(reader, writer))
        os.close(reader)
        os.close(writer)

    def _observe(self, link: Link) -> NoReturn:
        """Run the observer in this process; importing its modules here does not delay the command."""
        try:
            from mwms_recorder.outside import observer

            observer.observe(self.settings, self.pid, self.streams, self.observer_signals, link)
        finally:
            os._exit(1)

    def _record_start(self) -> None:
        self.journal.append(
            "recording",
            schema=SCHEMA,
            version=__version__,
            **self.named_task,
            command=masked_command(self.command),
            pid=self.pid,
            recorder_pid=os.getpid(),
            observer_pid=self.observer,
            host=os.uname().nodename,
            boot_id=proc.text_of("/proc/sys/kernel/random/boot_id").strip(),
            directory=os.getcwd(),
            streams={NAMES[number]: f"{s.name}.log" for s in self.streams for number in s.writers},
            options=self.settings.changed(),
        )

    def _wait(self) -> tuple[int, resource.struct_rusage]:
        """Wait for the command, forwarding signals; return its wait status and resource usage."""
        while True:
            ended = self._reap()
            if ended:
                return ended
            received = signal.sigwaitinfo(awaited())
            if received.si_signo != signal.SIGCHLD:
                self._receive(received)
            self._close_unread()

    def _reap(self) -> tuple[int, resource.struct_rusage] | None:
        """Reap ended children, inherited ones too (as PID 1); return the command's status once it ended."""
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
                if pid == self.pid:
                    return status, usage
                if pid == self.observer:
                    self._replace_observer()
                elif pid == 0:
                    break
        return None

    def _replace_observer(self) -> None:
        self.journal.append("recorder_failed", part="observer", error="it ended before the command")
        os.close(self._tell)
        os.close(self._hear)
        if self.observers < MAX_OBSERVERS:
            self._start_observer()

    def _receive(self, received: Any) -> None:
        number = received.si_signo
        group = received.si_code == SI_KERNEL or self.observer_signals.reached_all(number)
        for stream in self.streams if number == signal.SIGWINCH else []:
            copy_size(stream.target, stream.reader)
        if not group:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)
        self.asked = True
        self.journal.append(
            "signal",
            signal=named(number),
            sender={**proc.described(received.si_pid), "uid": received.si_uid}
            if received.si_pid
            else {"pid": 0},
            from_kernel=received.si_code == SI_KERNEL,
            delivery="group" if group else "forwarded",
        )

    def _close_unread(self) -> None:
        """Close streams whose target is closed, so that the command gets the usual write error."""
        with contextlib.suppress(OSError):
            for target in os.read(self._hear, 16):
                for stream in [stream for stream in self.streams if stream.target == target]:
                    self.streams.remove(stream)
                    os.close(stream.reader)

    def _end_observer(self, failed: bool) -> None:
        """Wait for the observer to forward the last output; if it has died, forward the output here."""
        with contextlib.suppress(OSError):
            os.write(self._tell, b"F" if failed else b"E")
        os.set_blocking(self._hear, True)
        while True:
            answer = b""
            with contextlib.suppress(OSError):
                answer = os.read(self._hear, 1)
            if answer == DRAINED or not answer:
                break
        if not answer:
            Pump(self.streams, self.settings.directory, self.journal).drain()
        elif failed:
            select.select([self._hear], [], [], LAST_WORDS_SECONDS)

    def _record_end(self, status: int, usage: resource.struct_rusage) -> None:
        by_signal = os.WIFSIGNALED(status)
        self.journal.append(
            "end",
            exit_code=None if by_signal else os.WEXITSTATUS(status),
            signal=named(os.WTERMSIG(status)) if by_signal else None,
            core_dumped=os.WCOREDUMP(status),
            asked=self.asked,
            usage=used(usage),
            cgroup=cgroup.read(),
            kernel=proc.kernel_lines(self.begin) if status else [],
            seconds=round(time.monotonic() - self.begin, 3),
        )


def used(usage: resource.struct_rusage) -> dict[str, Any]:
    """Return resource usage by name, times in seconds and memory in bytes."""
    return {
        "user_seconds": round(usage.ru_utime, 3),
        "system_seconds": round(usage.ru_stime, 3),
        "max_resident_bytes": usage.ru_maxrss * 1024,
        "major_faults": usage.ru_majflt,
        "blocks_read": usage.ru_inblock,
        "blocks_written": usage.ru_oublock,
        "voluntary_switches": usage.ru_nvcsw,
        "involuntary_switches": usage.ru_nivcsw,
    }


def end_like(status: int) -> NoReturn:
    """End this process with the signal or exit code of a wait status."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
        os.kill(os.getpid(), number)
        os._exit(128 + number)  # the first process of a container cannot be ended by its own signal
    os._exit(os.WEXITSTATUS(status))
