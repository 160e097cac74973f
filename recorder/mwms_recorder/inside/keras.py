"""Records what Keras does: training batches, saves, seeds."""

from __future__ import annotations

from time import monotonic_ns
from typing import TYPE_CHECKING, Any

from mwms_recorder.inside import seeds
from mwms_recorder.inside.phases import phase
from mwms_recorder.inside.watch import End, watch, wrap
from mwms_recorder.progress import BEGIN, CALLS, END, KERAS_BATCH, SAVE, TOTAL, add_slot

if TYPE_CHECKING:
    from mwms_recorder.inside.hook import Hook


def install(hook: Hook, keras: Any) -> None:
    """Watch the public functions of Keras 2 or 3 for batches, saves and seeds."""
    watch(keras.callbacks.CallbackList, "on_train_batch_end", _Batches(hook).count)
    for name in ("save", "save_weights"):
        watch(keras.Model, name, phase(hook, SAVE, f"Model.{name}"))
    wrap(keras.utils, "set_random_seed", seeds.noting(hook, "keras.utils.set_random_seed"))


class _Batches:
    """Counts and times the training batches of Keras."""

    def __init__(self, hook: Hook) -> None:
        self.hook = hook
        self.slot = 0

    def count(self, _callbacks: Any) -> End | None:
        """Count a batch that has ended, timed from the end of the previous batch."""
        words, now = self.hook.words, monotonic_ns()
        self.slot = slot = self.slot or add_slot(words, "keras_batch", KERAS_BATCH)
        before = words[slot + END] or now
        words[slot + BEGIN], words[slot + END] = before, now
        words[slot + TOTAL] += now - before
        words[slot + CALLS] += 1
        return None
