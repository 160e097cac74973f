"""Notes when a method is called and when the call ends, without a frame of its own in any traceback.

Python looks a method up before it calls it. `Watched` notes the look-up as the beginning, and hands out the
original bound method in a `partial`, which the caller drops when the call has ended, in whatever way: then it
is deleted, and notes the end. So the method is called by C code alone.
"""

from __future__ import annotations

import functools
import sys
from types import CodeType, FrameType
from typing import Any, Callable, Optional

End = Callable[[], None]
Begin = Callable[[Any], Optional[End]]


class Call(functools.partial):  # type: ignore[type-arg]  # none at run time in 3.8
    """A call that has not ended; its deletion is the end."""

    __slots__ = ("end",)
    end: End

    def __del__(self) -> None:
        self.end()


class Watched:
    """A method that tells `begin` of each call; what `begin` returns is called when the call ends."""

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
    """Watch a method of the class that defines it; a class without it, or one of C, is left as it is."""
    original = vars(owner).get(name)
    if callable(original) and not isinstance(original, Watched):
        try:
            setattr(owner, name, Watched(original, begin))
        except TypeError:
            return


def wrap(owner: Any, name: str, note: Callable[..., Any]) -> None:
    """Tell `note` the result and the arguments of each call of a function that returned.

    A frame of this file is in the traceback when the function raises and Python is older than 3.11.
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
    """Return the innermost frame outside this package."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the documented way
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        frame = frame.f_back
    return place(frame.f_code, frame.f_lineno) if frame else {}


def place(code: CodeType, line: int) -> dict[str, Any]:
    """Return a frame as it is recorded."""
    return {"file": code.co_filename, "line": line, "function": code.co_name}
