"""Counts the calls of `tf.function` objects and the training batches of Keras.

A step of TensorFlow evicts everything else from the processor's caches, so the memory that a hook touches
costs more than its instructions. What runs at each step therefore only counts; `ticks` does the rest.
"""

from __future__ import annotations

import sys
from types import MethodType
from typing import TYPE_CHECKING, Any

from mwms_recorder.inside.ticks import Counter
from mwms_recorder.progress import COMPUTE, FUNCTION, KERAS_BATCH

if TYPE_CHECKING:
    from mwms_recorder.inside.hook import Hook

MAX_KNOWN = 1_000
"""Maximum number of functions whose counter is cached; others are looked up by name."""


class Functions:
    """Descriptor that replaces `__call__` of `tf.function` objects; a look-up of it counts as a call."""

    __slots__ = ("counters", "current", "hook", "last", "original")

    def __init__(self, hook: Hook) -> None:
        self.hook = hook
        self.last = 0
        """`id` of the function that was called last."""
        self.current = Counter("", FUNCTION)
        """Its counter."""
        self.counters: dict[int, Counter] = {}
        self.original: Any = None

    def install(self, _hook: Hook, tf: Any) -> None:
        """Replace `__call__` in the class of `tf.function` objects by this descriptor."""
        kind = type(tf.function(lambda: None))
        self.original = kind.__call__
        self.hook.ticker.observe(self.original, COMPUTE)
        kind.__call__ = self  # type: ignore[assignment]

    def __get__(self, function: Any, owner: type | None = None) -> Any:
        if function is None:
            return self.original
        if id(function) == self.last or self._switch(function):
            self.current.calls += 1
        return MethodType(self.original, function)

    def _switch(self, function: Any) -> bool:
        """Count a function from now on, and return True; return False if it runs inside another function.

        Functions of one name share a counter.
        """
        ticker, known = self.hook.ticker, self.counters.get(id(function))
        if not known and ticker.phase(sys._getframe()) == COMPUTE:  # noqa: SLF001 - the documented way
            return False
        ticker.start()
        self.current = known or ticker.counter(name_of(function), FUNCTION)
        self.last = id(function)
        if len(self.counters) < MAX_KNOWN:
            self.counters[self.last] = self.current
        return True


def name_of(function: Any) -> str:
    """Return the name of the Python function of a `tf.function`."""
    return str(getattr(getattr(function, "python_function", function), "__name__", "function"))


class BatchEnd:
    """Descriptor that counts the training batches of Keras, by look-ups of a method that ends each."""

    __slots__ = ("counter", "original")

    def __init__(self, original: Any, hook: Hook) -> None:
        self.original = original
        self.counter = hook.ticker.counter("keras_batch", KERAS_BATCH)

    def __get__(self, callbacks: Any, owner: type | None = None) -> Any:
        if callbacks is None:
            return self.original
        self.counter.calls += 1
        return MethodType(self.original, callbacks)
