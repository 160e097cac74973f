"""Finds the first batch and, under `fit`, this worker's first loss that has NaN or infinite values.

The all-reduce hands a NaN to every worker within its step, so weights and printed losses do not tell where it
began. Keras adds up the loss of each replica in a variable of its own, which can be read between two steps.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Sequence

from mwms_recorder.inside.watch import watch

if TYPE_CHECKING:
    from mwms_recorder.inside.hook import Hook


class OwnLoss:
    """Reads this worker's loss after each batch of Keras, until it is not finite."""

    def __init__(self, hook: Hook) -> None:
        self.hook = hook
        self.tf: Any = None
        self.sums: Sequence[Any] | None = None
        """Variables with the sum of an epoch's losses, of each replica; None if not known yet."""
        self.epoch = self.batch = self.step = 0
        """Epochs begun, batches of this one, and batches of all."""
        self.over = not hook.settings.check_finite
        """True once the loss was not finite, or if it is not read."""

    def install(self, _hook: Hook, tf: Any) -> None:
        """Keep TensorFlow."""
        self.tf = tf

    def install_keras(self, callbacks: type) -> None:
        """Watch the begin of epochs and the end of batches."""
        if not self.over:
            watch(callbacks, "on_epoch_begin", self._begin)
            watch(callbacks, "on_train_batch_end", self.look)

    def _begin(self, _callbacks: Any) -> None:
        self.epoch, self.batch, self.sums = self.epoch + 1, 0, None

    def look(self, callbacks: Any) -> None:
        """Read the loss, and record it if it is not finite."""
        if self.over or not self.hook.active:
            return
        with self.hook.guarded("own loss"):
            self.batch, self.step = self.batch + 1, self.step + 1
            if self.sums is None:
                self.sums = self._find(callbacks.model)
            values = (float(each.numpy()) for each in self.sums)
            bad = next((value for value in values if not math.isfinite(value)), None)
            if bad is not None:
                self._note(str(bad))

    def _find(self, model: Any) -> Sequence[Any]:
        """Return the sums of the model's loss, or of its first mean, that replicas of this worker keep."""
        means = [metric for metric in model.metrics if len(metric.variables) == 2]
        means.sort(key=lambda metric: metric.name != "loss")
        sums = [_variable(self.tf, metric.variables[0]) for metric in means[:1]]
        return [one for each in sums for one in model.distribute_strategy.experimental_local_results(each)]

    def finish(self) -> None:
        """Record that the loss was finite up to the last batch."""
        if self.sums and not self.over:
            self._note("finite")

    def _note(self, value: str) -> None:
        self.over = True
        self.hook.note("own_loss", epoch=self.epoch, batch=self.batch, step=self.step, value=value)


def _variable(tf: Any, variable: Any) -> Any:
    """Return the variable of TensorFlow that a variable of Keras 3 wraps."""
    return variable if isinstance(variable, tf.Variable) else variable.value


def nonfinite(tf: Any, batch: Any) -> str | None:
    """Return `nan` or `inf` if a tensor of a batch on this worker holds such values, else None."""
    found = None
    for tensor in tf.nest.flatten(batch, expand_composites=True):
        if tensor.dtype.is_floating and not bool(tf.reduce_all(tf.math.is_finite(tensor))):
            found = "nan" if bool(tf.reduce_any(tf.math.is_nan(tensor))) else found or "inf"
    return found
