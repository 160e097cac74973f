"""Records the datasets that a strategy distributes, waits for input, and digests of first batches."""

from __future__ import annotations

import hashlib
from itertools import count
from typing import TYPE_CHECKING, Any, Iterator

from mwms_recorder.inside import pipelines
from mwms_recorder.inside.watch import caller, wrap
from mwms_recorder.progress import INPUT

if TYPE_CHECKING:
    from mwms_recorder.inside.hook import Hook

FINGERPRINTED_BATCHES = 8


def install(hook: Hook, tf: Any) -> None:
    """Wrap the functions that distribute datasets, and those that create iterators."""
    inputs = _Inputs(hook, tf)
    for name in ("experimental_distribute_dataset", "distribute_datasets_from_function"):
        wrap(tf.distribute.Strategy, name, inputs.distributed(name))
    wrap(tf.data.Dataset, "__iter__", inputs.iterated)


class _Inputs:
    """Records the datasets, iterators and batches of this process."""

    def __init__(self, hook: Hook, tf: Any) -> None:
        self.hook, self.tf = hook, tf
        self.numbers = count()

    def distributed(self, name: str) -> Any:
        """Return a callback for `wrap` that records the dataset of a call and wraps its iterators."""

        def note(result: Any, _strategy: Any, dataset: Any, *_rest: Any, **_named: Any) -> Any:
            with self.hook.guarded(name):
                self.hook.note("dataset", function=name, at=caller(), **self.described(dataset))
                wrap(type(result), "__iter__", self.iterated)
            return result

        return note

    def described(self, dataset: Any) -> dict[str, Any]:
        """Return a dataset's sharding policy, determinism and element type; empty for other objects."""
        if not isinstance(dataset, self.tf.data.Dataset):
            return {}
        options = dataset.options()
        policy = options.experimental_distribute.auto_shard_policy
        deterministic = getattr(options, "deterministic", None)
        known = {"auto_shard_policy": policy.name, "deterministic": deterministic}
        return {**known, "element": str(dataset.element_spec)[:500], **self._pipeline(dataset)}

    def _pipeline(self, dataset: Any) -> dict[str, Any]:
        with self.hook.guarded("pipeline"):
            if self.hook.settings.fingerprint_data and self.tf.executing_eagerly():
                return {"pipeline": pipelines.described(self.tf, dataset)}
        return {}

    def iterated(self, iterator: Any, *_dataset: Any) -> Any:
        """Observe or wrap `__next__` in the class of a new iterator, and return the iterator."""
        with self.hook.guarded("iterator"):
            self.hook.ticker.observe(getattr(type(iterator), "__next__", None), INPUT)
            self.hook.ticker.start()
            if self.hook.settings.fingerprint_data:
                wrap(type(iterator), "__next__", self._fingerprint)
        return iterator

    def _fingerprint(self, batch: Any, iterator: Any) -> Any:
        """Record the digest of a batch if it is one of its iterator's first 8, and return the batch."""
        with self.hook.guarded("fingerprint"):
            number, index = getattr(iterator, "_mwms_recorder", None) or (next(self.numbers), 0)
            if index < FINGERPRINTED_BATCHES and self.tf.executing_eagerly():
                iterator._mwms_recorder = (number, index + 1)  # noqa: SLF001 - our own mark
                self.hook.note(
                    "batch", index=index, iterator=number, sha256=self._digest(batch), source="iterator"
                )
        return batch

    def _digest(self, batch: Any) -> str:
        digest = hashlib.sha256()
        for part in self._parts(batch):
            digest.update(part)
        return digest.hexdigest()

    def _parts(self, batch: Any) -> Iterator[bytes]:
        """Yield the serialized tensors of a batch, only those on this worker."""
        for value in self.tf.nest.flatten(batch):
            distributed = isinstance(value, self.tf.distribute.DistributedValues)
            for tensor in value.values if distributed else (value,):
                yield self.tf.io.serialize_tensor(tensor).numpy()
