"""Records what Keras does: training batches, saves, seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mwms_recorder.inside import seeds
from mwms_recorder.inside.functions import BatchEnd
from mwms_recorder.inside.strategies import saving
from mwms_recorder.inside.watch import replace, watch, wrap

if TYPE_CHECKING:
    from mwms_recorder.inside.hook import Hook


def install(hook: Hook, keras: Any) -> None:
    """Watch the public functions of Keras 2 or 3 for batches, saves and seeds."""
    replace(keras.callbacks.CallbackList, "on_train_batch_end", lambda method: BatchEnd(method, hook))
    for name in ("save", "save_weights"):
        watch(keras.Model, name, saving(hook, f"Model.{name}"))
    wrap(keras.utils, "set_random_seed", seeds.noting(hook, "keras.utils.set_random_seed"))
