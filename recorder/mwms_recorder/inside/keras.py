"""Records what Keras does: training batches, saves, seeds."""

from __future__ import annotations

from time import monotonic_ns
from typing import TYPE_CHECKING, Any

from mwms_recorder.inside import seeds
from mwms_recorder.inside.phases import saving
from mwms_recorder.inside.watch import replace, watch, wrap
from mwms_recorder.progress import CALLS, END, KERAS_BATCH, add_slot

if TYPE_CHECKING:
    from mwms_recorder.inside.hook import Hook


def install(hook: Hook, keras: Any) -> None:
    """Watch the public functions of Keras 2 or 3 for batches, saves and seeds."""
    replace(keras.callbacks.CallbackList, "on_train_batch_end", lambda method: BatchEnd(method, hook))
    for name in ("save", "save_weights"):
        watch(keras.Model, name, saving(hook, f"Model.{name}"))
    wrap(keras.utils, "set_random_seed", seeds.noting(hook, "keras.utils.set_random_seed"))


class BatchEnd:
    """Descriptor that counts the training batches of Keras; lean, as it runs at each step."""

    def __init__(self, original: Any, hook: Hook) -> None:
        self.original, self.hook = original, hook
        self.slot = self.calls = 0

    def __get__(self, callbacks: Any, owner: type | None = None) -> Any:
        """Count a batch that has ended, and return the method."""
        if callbacks is not None:
            words = self.hook.words
            self.slot = slot = self.slot or add_slot(words, "keras_batch", KERAS_BATCH)
            words[slot + END] = monotonic_ns()
            words[slot + CALLS] = self.calls = self.calls + 1
        return self.original.__get__(callbacks, owner)
