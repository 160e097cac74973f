"""How every command ends: what escapes it becomes an exit status, with a line that says why.

What a command prints never stops it: signs that the terminal cannot show are replaced, and a reader that has
gone (`| head`) changes nothing about the status of a command that came to its end.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Timer, get_ident
from typing import TYPE_CHECKING

from analyzer.model.errors import NothingReadable, UsageError, UserError

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

_SIGPIPE_STATUS = 141
"""The reader had gone before the work was done; what a shell says of a program that SIGPIPE ended."""


def run_command(name: str, work: Callable[[], int]) -> int:
    """Do the work of a command and give its exit status; `errors.py` says which error is which."""
    if sys.stdout is None:  # whoever started the process closed it
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
        import traceback  # takes as long as some stages, and should never be needed

        traceback.print_exc()
        print(f"{name}: this is a mistake of ours; please report it with the lines above", file=sys.stderr)
        return 70
    return status


def _resend_interrupt(lost: UnraisableHookArgs) -> None:
    """Interrupt anew where Python had to swallow it: in a callback, as imports have many.

    A moment later, for what is raised here is swallowed too.
    """
    if issubclass(lost.exc_type, KeyboardInterrupt):
        Timer(0.01, signal.pthread_kill, (get_ident(), signal.SIGINT)).start()
    else:
        sys.__unraisablehook__(lost)


def write_stdout(text: str) -> None:
    """Print at once, whether or not anybody still reads.

    Raises:
        UsageError: standard output takes no more.

    """
    try:
        print(text, end="", flush=True)
    except BrokenPipeError:
        _silence_stdout()
    except OSError as error:
        _silence_stdout()
        raise UsageError(f"standard output: {error.strerror}") from error


def _silence_stdout() -> None:
    """Let all further output go nowhere; else Python would complain of it at the very end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
