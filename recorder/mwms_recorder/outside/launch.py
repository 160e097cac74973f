"""Starts the command as a child of the supervisor, as the shell would have started it.

All that the command has to wait for is here; the other modules are imported while it starts.

The command writes to a pipe or, if its output was a terminal, to a pseudo-terminal. The observer reads
it, and the supervisor keeps the reading end open too, so that the command survives if either is killed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import signal
import sys
import termios
import time
import tty
from typing import Mapping, NamedTuple, NoReturn, Sequence

from mwms_recorder.outside.signals import awaited
from mwms_recorder.outside.task import make_directory, make_pages, task_name
from mwms_recorder.settings import VARIABLE, Settings

BOOTSTRAP = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bootstrap")
NOTEBOOKS = {"jupyter", "jupyter-notebook", "jupyter-lab", "ipykernel", "ipykernel_launcher"}


class Launched(NamedTuple):
    """A command that was started, and what is recorded of it."""

    settings: Settings
    command: Sequence[str]
    named_task: dict[str, str]
    pid: int
    streams: list[Stream]
    begin: float
    """Monotonic time of the start, in seconds."""


def serves_notebooks(command: Sequence[str]) -> bool:
    """Return True if the command is a notebook server or kernel, which outlives the jobs that it runs."""
    names = {os.path.basename(argument) for argument in command[:3]}
    return bool(names & NOTEBOOKS) and "nbconvert" not in command


def supervise(settings: Settings, command: Sequence[str]) -> NoReturn:
    """Run the command and record it if possible; end with its exit status or signal."""
    try:
        named_task = task_name(os.environ, settings.task)
        directory = make_directory(settings.out, named_task["task"])
        settings = settings.at(os.path.abspath(directory), make_pages())
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        sys.stderr.write(f"mwms-recorder: not recording: {settings.out} cannot be written to: {reason}\n")
        sys.stderr.flush()
        execute(command, os.environ)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_BLOCK, awaited())
    streams, begin = open_streams() if settings.records("streams") else [], time.monotonic()
    launched = Launched(settings, command, named_task, start(command, settings, streams), streams, begin)
    from mwms_recorder.outside.supervisor import Supervisor

    Supervisor(launched).run()


def environment(settings: Settings) -> dict[str, str]:
    """Return this environment plus, if the hook is on, the variables that load it into Python."""
    if not settings.records("hook"):
        return dict(os.environ)
    path = [BOOTSTRAP, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, VARIABLE: settings.encoded(), "PYTHONPATH": os.pathsep.join(path)}


def start(command: Sequence[str], settings: Settings, streams: list[Stream]) -> int:
    """Start the command with default signal handling and redirected output; return its process ID."""
    variables = environment(settings)
    pid = os.fork()
    if pid == 0:
        try:
            _connect(streams)
            signal.pthread_sigmask(signal.SIG_SETMASK, [])
            execute(command, variables)
        finally:
            os._exit(126)
    for stream in streams:
        os.close(stream.child_end)
    return pid


def _connect(streams: list[Stream]) -> None:
    for stream in streams:
        for number in stream.writers:
            os.dup2(stream.child_end, number)


def execute(command: Sequence[str], variables: Mapping[str, str]) -> NoReturn:
    """Replace this process by the command; if that fails, exit with 127 (not found) or 126."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores these two
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvpe(command[0], list(command), variables)  # noqa: S606 - the user's command
    except OSError as error:
        sys.stderr.write(f"mwms-recorder: {command[0]}: {error.strerror}\n")
        sys.stderr.flush()
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


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
