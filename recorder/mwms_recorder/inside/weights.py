"""Records checksums of this worker's trainable variables at the first step, optionally every N steps."""

from __future__ import annotations

import threading
import time
import weakref
import zlib
from math import prod
from typing import TYPE_CHECKING, Any

from mwms_recorder.inside.ticks import name_of
from mwms_recorder.inside.watch import End, Watched, watch

if TYPE_CHECKING:
    from mwms_recorder.inside.hook import Hook

MAX_TAPES = 64
"""Number of gradient computations searched for variables; in eager mode, each step has one."""
MAX_WAIT_SECONDS = 20.0
"""Maximum time that the program waits for checksums."""


class Weights:
    """Finds the variables with gradients, and records their checksums when due."""

    def __init__(self, hook: Hook) -> None:
        self.hook = hook
        self.known: dict[int, Any] = {}
        self.strategy: Any = None
        self.tf: Any = None
        self.tapes = 0
        self.calls: dict[str, int] = {}
        """Ended calls of the functions of each name."""
        self.inside = False

    def install(self, hook: Hook, tf: Any) -> None:
        """Watch `GradientTape.gradient` to find variables before gradients are applied, and count steps."""
        if hook.settings.records("weights"):
            self.tf = tf
            watch(tf.GradientTape, "gradient", self._see_tape)
            if hook.settings.check_weights:
                kind = type(tf.function(lambda: None))
                kind.__call__ = Watched(vars(kind)["__call__"], self._begin_call)  # type: ignore[assignment]

    def _see_tape(self, tape: Any) -> None:
        if self.tapes >= MAX_TAPES or not self.hook.active:
            return
        self.tapes += 1
        with self.hook.guarded("weights"):
            seen = (each for each in tape.watched_variables() if id(each) not in self.known)
            new = [variable for variable in seen if getattr(variable, "trainable", True)]
            self.known.update((id(variable), weakref.ref(variable)) for variable in new)
            self.strategy = self.tf.distribute.get_strategy()
            if new:
                self._take(0, new)

    def _begin_call(self, function: Any) -> End | None:
        """Return a callback for the end of an outermost call."""
        if self.inside or not self.hook.active:
            return None
        self.inside, name = True, name_of(function)

        def end() -> None:
            self.inside = False
            self.calls[name] = calls = self.calls.get(name, 0) + 1
            if name == max(self.calls, key=self.calls.__getitem__):
                self._check(calls)

        return end

    def _check(self, calls: int) -> None:
        if calls % self.hook.settings.check_weights == 0:
            self._take_known(calls)

    def see_save(self) -> None:
        """Record checksums of the variables after a save, if they are also due after the first step."""
        if self.hook.settings.check_weights:
            self._take_known(max(self.calls.values(), default=0), saved=True)

    def _take_known(self, step: int, **marks: bool) -> None:
        alive = (reference() for reference in self.known.values())
        if known := [variable for variable in alive if variable is not None]:
            self._take(step, known, **marks)

    def _take(self, step: int, variables: list[Any], **marks: bool) -> None:
        """Checksum variables in another thread, which has no active tape and no graph under construction."""
        thread = threading.Thread(target=self._read, args=(step, variables), kwargs=marks, daemon=True)
        thread.start()
        thread.join(MAX_WAIT_SECONDS)

    def _read(self, step: int, variables: list[Any], **marks: bool) -> None:
        with self.hook.guarded("weights"):
            begin, left = time.monotonic(), self.hook.settings.weights_mib << 20
            rows = []
            for variable in variables:
                row = self._row(variable, left)
                left -= row["bytes"] if "crc32" in row else 0
                rows.append(row)
            beyond, seconds = sum("crc32" not in row for row in rows), round(time.monotonic() - begin, 6)
            self.hook.note("weights", step=step, variables=rows, left_out=beyond, seconds=seconds, **marks)

    def _row(self, variable: Any, left: int) -> dict[str, Any]:
        shape = [int(size) for size in variable.shape]
        kind = variable.dtype
        row = {"name": variable.name, "shape": shape, "dtype": kind.name, "bytes": prod(shape) * kind.size}
        if row["bytes"] > left:
            return row
        value = self._value(variable)
        return row if value is None else {**row, "crc32": zlib.crc32(value)}

    def _value(self, variable: Any) -> bytes | None:
        """Return the bytes of a variable's local component; None if it has no value yet."""
        local = self.strategy.experimental_local_results(variable)[0]
        try:
            return bytes(local.numpy().tobytes())
        except self.tf.errors.FailedPreconditionError:
            return None
