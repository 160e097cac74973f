"""Records the phase of the main thread (input, save) during calls of methods."""

from __future__ import annotations

import functools
import time
from _thread import get_ident
from typing import TYPE_CHECKING, Any

from mwms_recorder.inside.watch import Begin, End
from mwms_recorder.progress import INPUT, MAIN_THREAD, OTHER, PHASE, PHASES, SAVE

if TYPE_CHECKING:
    from mwms_recorder.inside.hook import Hook


def saving(hook: Hook, function: str) -> Begin:
    """Return a `begin` callback for `watch` that sets the phase and records the duration of a call."""

    def begin(_instance: Any) -> End | None:
        words = hook.words
        before = words[PHASE]
        if get_ident() != words[MAIN_THREAD] or before == SAVE:
            return None
        words[PHASE], started = SAVE, time.monotonic()

        def end() -> None:
            hook.words[PHASE] = before or OTHER
            seconds = round(time.monotonic() - started, 6)
            hook.note("span", phase=PHASES[SAVE], seconds=seconds, function=function)

        return end

    return begin


class InputCall(functools.partial):  # type: ignore[type-arg]  # none at run time in 3.8
    """A running call that waits for input; Python deletes this object when the call ends."""

    __slots__ = ("before", "hook")
    hook: Hook
    before: int
    """Phase before the call."""

    def __del__(self) -> None:
        self.hook.words[PHASE] = self.before


class Input:
    """Descriptor for `__next__` that sets the main thread's phase; lean, as it runs at each step."""

    def __init__(self, original: Any, hook: Hook) -> None:
        self.original, self.hook = original, hook

    def __get__(self, iterator: Any, owner: type | None = None) -> Any:
        words = self.hook.words
        if iterator is None or get_ident() != words[MAIN_THREAD] or words[PHASE] == INPUT:
            return self.original.__get__(iterator, owner)
        call = InputCall(self.original, iterator)
        call.hook, call.before = self.hook, words[PHASE] or OTHER
        words[PHASE] = INPUT
        return call
