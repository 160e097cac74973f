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
"""Maximum number of functions whose counter is cached; others are looked up by name at each call."""


class Counter:
    """Counted calls of the functions of one name, and their total duration (ns)."""

    __slots__ = ("calls", "slot", "total")

    def __init__(self, words: memoryview, name: str) -> None:
        self.slot = add_slot(words, name, FUNCTION)
        self.calls = self.total = 0


class FunctionCall(functools.partial):  # type: ignore[type-arg]  # none at run time in 3.8
    """A running call of a `tf.function`; Python deletes this object when the call ends."""

    __slots__ = ("begin", "counter", "functions", "phase", "thread")
    functions: Functions
    counter: Counter
    thread: int
    begin: int
    phase: int
    """Phase of the main thread before the call; -1 in other threads."""

    def __del__(self) -> None:
        """Count the call, and add its duration."""
        functions, counter, now = self.functions, self.counter, monotonic_ns()
        words, slot = functions.words, counter.slot
        words[slot + END] = now
        words[slot + TOTAL] = counter.total = counter.total + now - self.begin
        words[slot + CALLS] = counter.calls = counter.calls + 1
        if self.phase >= 0:
            words[PHASE] = self.phase or OTHER
        functions.inside.discard(self.thread)
        if functions.after:
            functions.tell(counter)


class Functions:
    """Descriptor that replaces `__call__` of `tf.function` objects to count calls; see `watch.Watched`."""

    def __init__(self, hook: Hook) -> None:
        self.hook = hook
        self.words = hook.words
        self.main = hook.words[MAIN_THREAD]
        self.inside: set[int] = set()
        self.counters: dict[int, Counter] = {}
        self.names: dict[str, Counter] = {}
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
        call.counter = counter = self.counters.get(id(function)) or self.counter_of(function)
        self.inside.add(thread)
        words = self.words
        call.phase = -1
        if thread == self.main:
            call.phase = words[PHASE]
            words[PHASE] = COMPUTE
        call.begin = words[counter.slot + BEGIN] = monotonic_ns()
        return call

    def tell(self, counter: Counter) -> None:
        """Call the callbacks after a counted call."""
        for after in self.after:
            after(counter.slot, counter.calls)

    def counter_of(self, function: Any) -> Counter:
        """Return the counter of a function without a cached one; functions of one name share it."""
        name = str(getattr(getattr(function, "python_function", function), "__name__", "function"))
        counter = self.names.get(name) or self.names.setdefault(name, Counter(self.words, name))
        if len(self.counters) < MAX_KNOWN:
            self.counters[id(function)] = counter
        return counter

    def forget(self) -> None:
        """Stop counting in the page of the parent process; called after a fork."""
        self.words = self.hook.words
        self.inside.clear()
