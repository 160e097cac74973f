"""Shares progress in one page of memory: the hook writes what it counted, the observer reads it.

A page has a header and `SLOTS` slots, one for each counted function, as unsigned 64-bit integers. Writing
needs no system call, no lock and no flush. Times are nanoseconds of CLOCK_MONOTONIC, and up to 0.2 s late,
because the hook writes five times a second.
"""

from __future__ import annotations

import mmap
import os
from typing import NamedTuple

PAGE_BYTES, SLOTS, SLOT_WORDS, HEADER_WORDS = 4096, 30, 16, 32
PID, PHASE, STACK_SIGNAL, USED_SLOTS, STARTED, MAIN_THREAD, LOOKS = range(7)
CALLS, TOTAL, BEGIN, END, KIND, NAME = range(6)
"""Indexes of the words in a slot; the name fills all words from `NAME` on."""
NAME_BYTES = (SLOT_WORDS - NAME) * 8
PHASES = ("starting", "input", "compute", "evaluation", "save", "other")
"""From the word `LOOKS` on, the page counts for each phase how often the hook found the main thread in it."""
STARTING, INPUT, COMPUTE, EVALUATION, SAVE, OTHER = range(6)
GENERATOR_LOOKS = LOOKS + len(PHASES)
"""Counts the looks at which another thread ran a Python generator for `tf.data`."""
FUNCTION, KERAS_BATCH = range(2)
"""Kinds of a slot: a tf.function, Keras training batches."""


def create(path: str) -> memoryview:
    """Create the progress page and return it as 64-bit words; its space is reserved, so no later write fails.

    Raises:
        OSError: the file cannot be created, for example for lack of space.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(file, bytes(PAGE_BYTES))
        words = memoryview(mmap.mmap(file, PAGE_BYTES)).cast("Q")
    finally:
        os.close(file)
    words[PID] = os.getpid()
    return words


def add_slot(words: memoryview, name: str, kind: int) -> int:
    """Return the index of a new slot's first word; if all slots are used, reuse the last one."""
    number = min(int(words[USED_SLOTS]), SLOTS - 1)
    slot = HEADER_WORDS + number * SLOT_WORDS
    text = name.encode("ascii", "replace")[:NAME_BYTES].ljust(NAME_BYTES, b"\0")
    for index in range(NAME, SLOT_WORDS):
        words[slot + index] = int.from_bytes(text[(index - NAME) * 8 :][:8], "little")
    words[slot + KIND] = kind
    words[USED_SLOTS] = number + 1
    return slot


class Slot(NamedTuple):
    """Call count and times (ns) of one counted function."""

    name: str
    kind: int
    calls: int
    total: int
    begin: int
    end: int

    @property
    def inside(self) -> bool:
        """Return True if a call has begun and not ended."""
        return self.begin > self.end


class Page(NamedTuple):
    """Content of a page at one moment."""

    pid: int
    phase: int
    stack_signal: int
    started: int
    main_thread: int
    slots: list[Slot]
    looks: tuple[int, ...] = ()
    """Number of looks, five a second, at which the main thread was in each phase."""
    generator_looks: int = 0
    """Number of these at which another thread ran a Python generator for `tf.data`."""

    def step(self) -> Slot | None:
        """Return the slot of the training step: Keras batches, else the function with most time; or None."""
        keras = [slot for slot in self.slots if slot.kind == KERAS_BATCH and slot.calls]
        functions = [slot for slot in self.slots if slot.kind == FUNCTION] or self.slots
        return keras[0] if keras else max(functions, key=lambda slot: (slot.total, slot.calls), default=None)

    def steps(self) -> int:
        """Return the number of completed training steps."""
        step = self.step()
        return step.calls if step else 0

    def last_sign(self) -> int:
        """Return the time (ns, monotonic) at which a call last ended, or TensorFlow was imported."""
        return max([self.started, *(slot.end for slot in self.slots)])


def read(path: str) -> Page | None:
    """Read a page file; return None while it is incomplete."""
    with open(path, "rb") as file:
        data = file.read(PAGE_BYTES)
    if len(data) < PAGE_BYTES:
        return None
    words = memoryview(data).cast("Q")
    used = min(int(words[USED_SLOTS]), SLOTS)
    slots = [_slot(data, words, HEADER_WORDS + number * SLOT_WORDS) for number in range(used)]
    looks = tuple(words[LOOKS : LOOKS + len(PHASES)])
    pid, phase, stack_signal, _, started, main_thread = words[:LOOKS]
    return Page(pid, phase, stack_signal, started, main_thread, slots, looks, words[GENERATOR_LOOKS])


def _slot(data: bytes, words: memoryview, at: int) -> Slot:
    name = data[(at + NAME) * 8 : (at + SLOT_WORDS) * 8].rstrip(b"\0").decode("ascii", "replace")
    return Slot(
        name, words[at + KIND], words[at + CALLS], words[at + TOTAL], words[at + BEGIN], words[at + END]
    )
