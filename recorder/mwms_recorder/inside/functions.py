"""Counts and times the outermost `tf.function` calls of each thread."""

from __future__ import annotations

import functools
from _thread import get_ident
from time import monotonic_ns
from typing import TYPE_CHECKING, Any, Callable

from mwms_recorder.progress import (
    BEGIN,
    CALLS,
    COMPUTE,
    END,
    FUNCTION,
    MAIN_THREAD,
    OTHER,
    PHASE,
    TOTAL,
    add_slot,
)

if TYPE_CHECKING:
    from mwms_recorder.inside.hook import Hook

MAX_KNOWN = 1_000
"""Maximum number of functions whose slot is cached; others are looked up by name at each call."""


class FunctionCall(functools.partial):  # type: ignore[type-arg]  # none at run time in 3.8
    """A running call of a `tf.function`; Python deletes this object when the call ends."""

    __slots__ = ("begin", "functions", "phase", "slot", "thread")
    functions: Functions
    thread: int
    slot: int
    begin: int
    phase: int
    """Phase of the main thread before the call; -1 in other threads."""

    def __del__(self) -> None:
        """Count the call, and add its duration."""
        functions, slot, now = self.functions, self.slot, monotonic_ns()
        words = functions.words
        words[slot + END] = now
        words[slot + TOTAL] += now - self.begin
        words[slot + CALLS] += 1
        if self.phase >= 0:
            words[PHASE] = self.phase or OTHER
        functions.inside.discard(self.thread)
        if functions.after:
            functions.tell(slot)


class Functions:
    """Descriptor that replaces `__call__` of `tf.function` objects to count calls; see `watch.Watched`."""

    def __init__(self, hook: Hook) -> None:
        self.hook = hook
        self.words = hook.words
        self.main = hook.words[MAIN_THREAD]
        self.inside: set[int] = set()
        self.slots: dict[int, int] = {}
        self.names: dict[str, int] = {}
        self.after: list[Callable[[int, int], None]] = []
        """Callbacks after each counted call, with its slot and the number of its calls."""
        self.original: Any = None

    def install(self, _hook: Hook, tf: Any) -> None:
        """Replace `__call__` in the class of `tf.function` objects by this descriptor."""
        kind = type(tf.function(lambda: None))
        self.original = kind.__call__
        kind.__call__ = self  # type: ignore[assignment]

    def __get__(self, function: Any, owner: type | None = None) -> Any:
        thread = get_ident()
        if function is None or thread in self.inside:
            return self.original.__get__(function, owner)
        call = FunctionCall(self.original, function)
        call.functions, call.thread = self, thread
        call.slot = slot = self.slots.get(id(function)) or self.slot_of(function)
        self.inside.add(thread)
        words = self.words
        call.phase = -1
        if thread == self.main:
            call.phase = words[PHASE]
            words[PHASE] = COMPUTE
        call.begin = words[slot + BEGIN] = monotonic_ns()
        return call

    def tell(self, slot: int) -> None:
        """Call the callbacks after a counted call."""
        for after in self.after:
            after(slot, self.words[slot + CALLS])

    def slot_of(self, function: Any) -> int:
        """Return the slot of a function without a cached one; functions of one name share a slot."""
        name = str(getattr(getattr(function, "python_function", function), "__name__", "function"))
        slot = self.names.get(name) or self.names.setdefault(name, add_slot(self.words, name, FUNCTION))
        if len(self.slots) < MAX_KNOWN:
            self.slots[id(function)] = slot
        return slot

    def forget(self) -> None:
        """Stop counting in the page of the parent process; called after a fork."""
        self.words = self.hook.words
        self.inside.clear()
