"""Records uncaught exceptions, and calls that end the process."""

from __future__ import annotations

import linecache
import os
import sys
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Any, Iterator

from mwms_recorder.inside.watch import Watched, caller, place
from mwms_recorder.journal import masked

if TYPE_CHECKING:
    from mwms_recorder.inside.hook import Hook

MAX_FRAMES, MAX_CAUSES, MAX_MESSAGE = 60, 8, 4_000


def install(hook: Hook, _tf: Any) -> None:
    """Record uncaught exceptions before they are printed, and calls of exit and abort functions."""
    _note_exceptions(hook)
    for module, name in ((sys, "exit"), (os, "_exit"), (os, "abort")):
        setattr(module, name, _watched(hook, f"{module.__name__}.{name}", getattr(module, name)))


def _note_exceptions(hook: Hook) -> None:
    print_exception, print_in_thread = sys.excepthook, threading.excepthook

    def of_main(kind: Any, error: Any, trace: Any) -> None:
        with hook.guarded("exception"):
            _note(hook, error, trace, threading.current_thread())
        print_exception(kind, error, trace)

    def of_thread(given: Any) -> None:
        with hook.guarded("exception"):
            if given.exc_value and given.exc_type is not SystemExit:
                _note(hook, given.exc_value, given.exc_traceback, given.thread)
        print_in_thread(given)

    sys.excepthook, threading.excepthook = of_main, of_thread


def _note(hook: Hook, error: BaseException, trace: TracebackType | None, thread: Any) -> None:
    where = {"thread": getattr(thread, "name", ""), "main": thread is threading.main_thread()}
    hook.note("exception", **described(error, trace), **where, causes=list(_causes(error)))
    if hook.active and hook.settings.records("files"):
        from mwms_recorder.host.proc import MAX_FILES, input_files

        opened = sorted(input_files(os.getpid()))[:MAX_FILES]
        hook.note("files", opened=[masked(path) for path in opened])


def described(error: BaseException, trace: TracebackType | None) -> dict[str, Any]:
    """Return type, masked message and frames of an exception."""
    kind = type(error)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return {"type": name, "message": masked(str(error)[:MAX_MESSAGE]), "frames": frames(trace)}


def frames(trace: TracebackType | None) -> list[dict[str, Any]]:
    """Return the innermost 60 frames of a traceback, the innermost last."""
    found = []
    while trace:
        code = trace.tb_frame.f_code
        source = linecache.getline(code.co_filename, trace.tb_lineno, trace.tb_frame.f_globals).strip()
        found.append({**place(code, trace.tb_lineno), **({"code": masked(source[:200])} if source else {})})
        trace = trace.tb_next
    return found[-MAX_FRAMES:]


def _causes(error: BaseException) -> Iterator[dict[str, Any]]:
    for _ in range(MAX_CAUSES):
        cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if cause is None:
            return
        yield described(cause, cause.__traceback__)
        error = cause


def _watched(hook: Hook, name: str, original: Any) -> Any:
    """Return a callable that records its caller, then calls the original."""

    def begin(_instance: Any) -> None:
        with hook.guarded(name):
            thread = threading.current_thread()
            where = {"thread": thread.name, "main": thread is threading.main_thread()}
            hook.note("exit", function=name, at=caller(), **where)
            hook.ticker.tick()

    calls = {
        "__call__": Watched(_Static(original), begin),
        "__doc__": original.__doc__,
        "__name__": original.__name__,
    }
    return type("builtin_function_or_method", (), calls)()


class _Static:
    """Wraps a function so that, as a class attribute, it gets no `self`."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __get__(self, _instance: Any, _owner: type | None = None) -> Any:
        return self.function
