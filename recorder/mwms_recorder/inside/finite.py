"""Finds the first batch and, under `fit`, the first own loss of this worker that is NaN or infinite.

The all-reduce hands a NaN to every worker within its step, so weights and printed losses do not tell where it
began. Keras adds up the loss of each replica in a variable of its own, which can be read between two steps.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mwms_recorder.inside.functions import BatchEnd
from mwms_recorder.inside.watch import Watched, replace

if TYPE_CHECKING:
    from mwms_recorder.inside.hook import Hook


class OwnLoss:
    """Reads this worker's loss after each batch of Keras, until it is not finite."""

    def __init__(self, hook: Hook) -> None:
        self.hook = hook
        self.tf: Any = None
        self.sums: list[tuple[Any, Any]] | None = None
        """Variables with the sum of the losses and their number, of each replica; None if not known yet."""
        self.epoch = self.step = 0
        self.value = math.nan
        """Mean of this epoch up to the last batch."""
        self.over = not hook.settings.check_finite
        """True once the loss was not finite, or if it is not read."""

    def install(self, _hook: Hook, tf: Any) -> None:
        """Keep TensorFlow."""
        self.tf = tf

    def install_keras(self, keras: Any) -> None:
        """Watch the begin of epochs and the end of batches."""
        if not self.over:
            replace(keras.callbacks.CallbackList, "on_epoch_begin", lambda each: Watched(each, self._begin))
            replace(
                keras.callbacks.CallbackList, "on_train_batch_end", lambda each: CheckedBatchEnd(each, self)
            )

    def _begin(self, _callbacks: Any) -> None:
        self.epoch, self.step, self.sums = self.epoch + 1, 0, None

    def look(self, callbacks: Any) -> None:
        """Read the loss, and record it if it is not finite."""
        if self.over or not self.hook.active:
            return
        with self.hook.guarded("own loss"):
            self.step += 1
            if self.sums is None:
                self.sums = self._find(callbacks.model)
            for total, count in self.sums:
                self.value = float(total.numpy()) / (float(count.numpy()) or 1.0)
                if not math.isfinite(self.value):
                    return self._note()

    def _find(self, model: Any) -> list[tuple[Any, Any]]:
        """Return the sums of the model's loss, or of its first mean, that the replicas on this worker keep."""
        means = [metric for metric in model.metrics if len(metric.variables) == 2]
        means.sort(key=lambda metric: metric.name != "loss")
        local_results = model.distribute_strategy.experimental_local_results
        for metric in means:
            return [*zip(*(local_results(_variable(self.tf, each)) for each in metric.variables))]
        return []

    def finish(self) -> None:
        """Record that the loss was finite up to the last batch."""
        if self.step and not self.over and math.isfinite(self.value):
            self._note()

    def _note(self) -> None:
        self.over = True
        self.hook.note("own_loss", epoch=self.epoch, step=self.step, value=plain(self.value))


class CheckedBatchEnd(BatchEnd):
    """Also reads this worker's loss at the end of each batch."""

    __slots__ = ("loss",)

    def __init__(self, original: Any, loss: OwnLoss) -> None:
        super().__init__(original, loss.hook)
        self.loss = loss

    def __get__(self, callbacks: Any, owner: type | None = None) -> Any:
        if callbacks is not None:
            self.loss.look(callbacks)
        return super().__get__(callbacks, owner)


def _variable(tf: Any, variable: Any) -> Any:
    """Return the variable of TensorFlow that a variable of Keras 3 wraps."""
    return variable if isinstance(variable, tf.Variable) else variable.value


def plain(value: float) -> float | str:
    """Return a number as JSON can hold it: NaN and infinities become `nan`, `inf` and `-inf`."""
    return value if math.isfinite(value) else str(value)


def nonfinite(tf: Any, batch: Any) -> str | None:
    """Return `nan` or `inf` if a tensor of a batch on this worker holds such values, else None."""
    found = None
    for tensor in tf.nest.flatten(batch, expand_composites=True):
        if tensor.dtype.is_floating and not bool(tf.reduce_all(tf.math.is_finite(tensor))):
            found = "nan" if bool(tf.reduce_any(tf.math.is_nan(tensor))) else found or "inf"
    return found
