"""One page of shared memory on which the hook counts steps, and from which the observer reads them.

A page holds a header and `SLOTS` slots, one for each function that is counted, as unsigned 64-bit integers:
no system call, no lock, and nothing to flush. Times are nanoseconds of CLOCK_MONOTONIC.
"""

from __future__ import annotations

import mmap
import os
from dataclasses import dataclass

PAGE_BYTES, SLOTS, SLOT_WORDS, HEADER_WORDS = 4096, 30, 16, 32
PID, PHASE, STACK_SIGNAL, USED_SLOTS, STARTED, MAIN_THREAD = range(6)
CALLS, TOTAL, BEGIN, END, KIND, NAME = range(6)
"""Words of a slot; the name fills the rest of it."""
NAME_BYTES = (SLOT_WORDS - NAME) * 8
PHASES = ("starting", "input", "compute", "evaluation", "save", "other")
STARTING, INPUT, COMPUTE, EVALUATION, SAVE, OTHER = range(6)
FUNCTION, KERAS_BATCH, EAGER = range(3)
"""Kinds of a slot: a tf.function, Keras training batches, gradients taken outside of any function."""


def create(path: str) -> memoryview:
    """Make a page and return it as words; its memory is allocated at once, so that no write can fail later.

    Raises:
        OSError: there is no space.

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
    """Return the first word of a new slot; when all are taken, that of the last one."""
    number = min(int(words[USED_SLOTS]), SLOTS - 1)
    slot = HEADER_WORDS + number * SLOT_WORDS
    text = name.encode("ascii", "replace")[:NAME_BYTES].ljust(NAME_BYTES, b"\0")
    for index in range(NAME, SLOT_WORDS):
        words[slot + index] = int.from_bytes(text[(index - NAME) * 8 :][:8], "little")
    words[slot + KIND] = kind
    words[USED_SLOTS] = number + 1
    return slot


@dataclass(frozen=True)
class Slot:
    """What one counted function has done."""

    name: str
    kind: int
    calls: int
    total: int
    begin: int
    end: int

    @property
    def inside(self) -> bool:
        """Whether a call has begun and not ended."""
        return self.begin > self.end


@dataclass(frozen=True)
class Page:
    """A page as read at one moment."""

    pid: int
    phase: int
    stack_signal: int
    started: int
    main_thread: int
    slots: list[Slot]

    def step(self) -> Slot | None:
        """Return what counts as the training step: Keras batches, else the function with most time."""
        keras = [slot for slot in self.slots if slot.kind == KERAS_BATCH and slot.calls]
        functions = [slot for slot in self.slots if slot.kind == FUNCTION] or self.slots
        return keras[0] if keras else max(functions, key=lambda slot: slot.total, default=None)

    def steps(self) -> int:
        """Return how many training steps have ended."""
        step = self.step()
        return step.calls if step else 0

    def last_sign(self) -> int:
        """Return when a call last ended, or when the hook was loaded."""
        return max([self.started, *(slot.end for slot in self.slots)])


def read(path: str) -> Page | None:
    """Return a page, or None while it is not complete."""
    with open(path, "rb") as file:
        data = file.read(PAGE_BYTES)
    if len(data) < PAGE_BYTES:
        return None
    words = memoryview(data).cast("Q")
    used = min(int(words[USED_SLOTS]), SLOTS)
    slots = [_slot(data, words, HEADER_WORDS + number * SLOT_WORDS) for number in range(used)]
    return Page(words[PID], words[PHASE], words[STACK_SIGNAL], words[STARTED], words[MAIN_THREAD], slots)


def _slot(data: bytes, words: memoryview, at: int) -> Slot:
    name = data[(at + NAME) * 8 : (at + SLOT_WORDS) * 8].rstrip(b"\0").decode("ascii", "replace")
    return Slot(
        name, words[at + KIND], words[at + CALLS], words[at + TOTAL], words[at + BEGIN], words[at + END]
    )
