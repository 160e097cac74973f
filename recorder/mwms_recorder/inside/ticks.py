"""Counts `tf.function` calls and Keras batches, and writes progress to the shared page from a thread.

A step evicts the hook's memory from the caches, so what runs at each step only counts.
"""

from __future__ import annotations

import inspect
import signal
import sys
from _thread import allocate_lock, start_new_thread
from time import monotonic_ns
from types import MethodType
from typing import TYPE_CHECKING, Any

from mwms_recorder.progress import (
    BEGIN,
    CALLS,
    COMPUTE,
    END,
    FUNCTION,
    GENERATOR_LOOKS,
    KERAS_BATCH,
    LOOKS,
    MAIN_THREAD,
    OTHER,
    PHASE,
    SAVE,
    TOTAL,
    add_slot,
)

if TYPE_CHECKING:
    from types import FrameType

    from mwms_recorder.inside.hook import Hook

TICK_SECONDS = 0.2
GENERATOR_FILES = ("/data/ops/from_generator_op.py", "/data/ops/dataset_ops.py")
"""Files of TensorFlow that call Python generators: since 2.11, and before."""


class Counter:
    """Counts the calls, ended or running, of all functions with one name."""

    __slots__ = ("calls", "kind", "name", "slot")

    def __init__(self, name: str, kind: int) -> None:
        self.name, self.kind = name, kind
        self.calls = self.slot = 0

    def write(self, words: memoryview, now: int, elapsed: int) -> None:
        """Write the ended calls; `elapsed` is the time (ns) to add for a running call, 0 without one."""
        slot = self.slot = self.slot or add_slot(words, self.name, self.kind)
        running = elapsed > 0
        if words[slot + CALLS] + (words[slot + BEGIN] > words[slot + END]) != self.calls:
            words[slot + BEGIN] = now
        if words[slot + CALLS] != self.calls - running:
            words[slot + CALLS], words[slot + END] = self.calls - running, now - running
        words[slot + TOTAL] += elapsed


class Ticker:
    """Finds the phase of the main thread, and writes it and all counters to the shared page."""

    def __init__(self, hook: Hook) -> None:
        self.hook = hook
        self.counters: dict[str, Counter] = {}
        self.phases: dict[int, int] = {}
        """`id` of a method's code → phase of the main thread while it runs."""
        self.saving = False
        self.stop: Any = None
        self.last = monotonic_ns()

    def counter(self, name: str, kind: int) -> Counter:
        """Return the counter of a name."""
        return self.counters.get(name) or self.counters.setdefault(name, Counter(name, kind))

    def observe(self, method: Any, phase: int) -> None:
        """Register the phase in which the main thread is while it runs `method`, which is a Python method."""
        self.phases[id(getattr(inspect.unwrap(method), "__code__", None))] = phase

    def start(self) -> None:
        """Start the thread unless it runs; called late, since Python 3.12 warns of forks beside threads."""
        if self.stop is None and self.hook.active:
            self.stop = allocate_lock()
            self.stop.acquire()
            with self.hook.guarded("progress"):
                start_new_thread(self._run, ())

    def _run(self) -> None:
        """Tick until the process ends, and leave all signals to the other threads."""
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        while not self.stop.acquire(timeout=TICK_SECONDS):
            self.tick()

    def finish(self) -> None:
        """End the thread, and write the last progress."""
        if self.stop and self.stop.locked():
            self.stop.release()
        self.tick()

    def tick(self) -> None:
        """Write the phase and all counters; does nothing in forked processes."""
        if not self.hook.active:
            return
        with self.hook.guarded("progress"):
            words, now = self.hook.words, monotonic_ns()
            frames = sys._current_frames()  # noqa: SLF001 - the documented way
            phase = self.phase(frames.pop(words[MAIN_THREAD], None))
            running = self.hook.functions.current if phase == COMPUTE else None
            for counter in [each for each in self.counters.values() if each.calls]:
                counter.write(words, now, (now - self.last) * (counter is running))
            phase = SAVE if self.saving else phase
            words[PHASE], self.last = phase, now
            words[LOOKS + phase] += 1
            words[GENERATOR_LOOKS] += any(map(runs_generator, frames.values()))

    def phase(self, frame: FrameType | None) -> int:
        """Return the phase of the outermost known frame; `frame` is the innermost."""
        phase = OTHER
        while frame:
            phase = self.phases.get(id(frame.f_code), phase)
            frame = frame.f_back
        return phase


def runs_generator(frame: FrameType | None) -> bool:
    """Return True if a thread runs a Python generator for `tf.data`: that of `from_generator` or of Keras."""
    while frame:
        if frame.f_code.co_filename.endswith(GENERATOR_FILES):
            return True
        frame = frame.f_back
    return False


MAX_KNOWN = 1_000
"""Maximum number of functions whose counter is cached; others are looked up by name."""


class Functions:
    """Descriptor that replaces `__call__` of `tf.function` objects; a look-up of it counts as a call."""

    __slots__ = ("counters", "current", "hook", "last", "original")

    def __init__(self, hook: Hook) -> None:
        self.hook = hook
        self.last, self.current = 0, Counter("", FUNCTION)
        """`id` and counter of the function that was called last."""
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

    def count_for(self, counter: Counter) -> None:
        """Count the calls of the function that was called last by this counter from now on."""
        self.counters[self.last] = self.current = counter


def name_of(function: Any) -> str:
    """Return the name of the Python function of a `tf.function`."""
    return str(getattr(getattr(function, "python_function", function), "__name__", "function"))


FIT_FUNCTIONS = {"train_function", "one_step_on_iterator", "multi_step_on_iterator"}
"""Names of the function that computes a batch of `fit`, in Keras 2 and 3."""


class BatchEnd:
    """Descriptor that counts the batches of `fit` by look-ups of the method that ends each.

    Once a `tf.function` is seen to be called once a batch, its calls are counted instead.
    """

    def __init__(self, owner: Any, hook: Hook) -> None:
        self.owner, self.original, self.functions = owner, vars(owner)["on_train_batch_end"], hook.functions
        self.counter = hook.ticker.counter("keras_batch", KERAS_BATCH)

    def begin(self, _callbacks: Any) -> None:
        """Replace the method, as `fit` begins."""
        self.seen, self.last = self.counter.calls, (self.counter, 0)
        self.owner.on_train_batch_end = self

    def __get__(self, callbacks: Any, owner: type | None = None) -> Any:
        if callbacks is not None and self.counted():
            self.owner.on_train_batch_end = self.original
        return self.original.__get__(callbacks, owner)

    def counted(self) -> bool:
        """Return True if the calls of a `tf.function` counted this batch; else count it."""
        function, counted = self.functions.current, self.counter.calls > self.seen
        if not counted:
            if function.name in FIT_FUNCTIONS and self.last == (function, function.calls - 1):
                self.functions.count_for(self.counter)
            self.counter.calls += 1
        self.seen, self.last = self.counter.calls, (function, function.calls)
        return counted
