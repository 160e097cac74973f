"""Runs every command: turns exceptions into an exit status and a line on standard error.

Output never stops a command: characters that the terminal cannot show are replaced, and a closed pipe
(`| head`) does not change the status of a command that has finished.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer, get_ident
from typing import TYPE_CHECKING

from analyzer.model.errors import NothingReadable, UsageError, UserError

if TYPE_CHECKING:
    from sys import UnraisableHookArgs
    from types import FrameType

_SIGPIPE_STATUS = 141
"""128 + SIGPIPE, as a shell reports it: the reader closed the pipe before the work was done."""


def run_command(name: str, work: Callable[[], int]) -> int:
    """Run a command and return its exit status; exceptions become messages (see `model/errors.py`)."""
    if sys.stdout is None:  # closed by the parent process
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for the rest of the process
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    sys.unraisablehook = _resend_interrupt
    try:
        status = work()
        write_stdout("")
    except UserError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 4 if isinstance(error, NothingReadable) else 2
    except KeyboardInterrupt:
        print(f"{name}: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        _silence_stdout()
        return _SIGPIPE_STATUS
    except Exception:  # noqa: BLE001 - the last place where a mistake of ours can be told from the user's
        import traceback  # slow to import, and rarely needed

        traceback.print_exc()
        print(f"{name}: internal error; please report it with the lines above", file=sys.stderr)
        return 70
    return status


@contextmanager
def interrupted_by_sigterm() -> Iterator[None]:
    """Treat SIGTERM like Ctrl-C in the `with` block: processes are ended, temporary files deleted."""
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - as `signal` wants it
    """Raise KeyboardInterrupt; ignore any further SIGTERM."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise KeyboardInterrupt


def _resend_interrupt(lost: UnraisableHookArgs) -> None:
    """Send SIGINT again if a callback swallowed a KeyboardInterrupt, as happens during imports.

    The signal is delayed, because an exception raised inside this hook would be swallowed too.
    """
    if issubclass(lost.exc_type, KeyboardInterrupt):
        Timer(0.01, signal.pthread_kill, (get_ident(), signal.SIGINT)).start()
    else:
        sys.__unraisablehook__(lost)


def write_stdout(text: str) -> None:
    """Write to standard output and flush; a closed pipe is ignored.

    Raises:
        UsageError: standard output cannot be written to.
    """
    try:
        print(text, end="", flush=True)
    except BrokenPipeError:
        _silence_stdout()
    except OSError as error:
        _silence_stdout()
        raise UsageError(f"standard output: {error.strerror}") from error


def _silence_stdout() -> None:
    """Redirect standard output to the null device; otherwise Python reports the closed pipe at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
