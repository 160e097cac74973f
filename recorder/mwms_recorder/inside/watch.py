"""Observes the begin and end of method calls without adding a frame to tracebacks.

Python looks up a method before it calls it. The descriptor `Watched` treats the look-up as the begin of the
call, and returns the bound method in a `partial`. When the call returns or raises, Python deletes the
`partial`, which marks the end. No Python frame of this module is on the stack during the call.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from types import CodeType, FrameType
from typing import Any, Callable, Optional

End = Callable[[], None]
Begin = Callable[[Any], Optional[End]]


class Call(functools.partial):  # type: ignore[type-arg]  # none at run time in 3.8
    """A running call; Python deletes this object when the call ends."""

    __slots__ = ("end",)
    end: End

    def __del__(self) -> None:
        self.end()


class Watched:
    """Descriptor that calls `begin` before each call of a method, and what `begin` returns after the call."""

    def __init__(self, original: Any, begin: Begin) -> None:
        self.original, self.begin = original, begin

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        bound = self.original.__get__(instance, owner)
        end = None if instance is None else self.begin(instance)
        if end is None:
            return bound
        call = Call(bound)
        call.end = end
        return call


def watch(owner: Any, name: str, begin: Begin) -> None:
    """Replace a method in its class by `Watched`; does nothing if it has one already, or for C classes."""
    original = vars(owner).get(name)
    if callable(original):
        with contextlib.suppress(TypeError):
            setattr(owner, name, Watched(original, begin))


def wrap(owner: Any, name: str, note: Callable[..., Any]) -> None:
    """Wrap a function: a call returns what `note` returns for its result and arguments.

    Before Python 3.11, a traceback through the function contains a frame of this file.
    """
    original = getattr(owner, name, None)
    if original is None or hasattr(original, "__mwms_recorder__"):
        return

    @functools.wraps(original)
    def noting(*arguments: Any, **named: Any) -> Any:
        try:
            result = original(*arguments, **named)
        except BaseException as error:
            error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
            raise
        return note(result, *arguments, **named)

    noting.__mwms_recorder__ = True  # type: ignore[attr-defined]
    setattr(owner, name, noting)


_PACKAGE = __name__.partition(".")[0]


def caller() -> dict[str, Any]:
    """Return file, line and function of the innermost frame outside this package."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the documented way
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        frame = frame.f_back
    return place(frame.f_code, frame.f_lineno) if frame else {}


def place(code: CodeType, line: int) -> dict[str, Any]:
    """Return file, line and function of a frame, as events store it."""
    return {"file": code.co_filename, "line": line, "function": code.co_name}
