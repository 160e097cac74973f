"""Records the datasets that a strategy distributes, waits for input, digests and NaN of batches.

The batches of `Model.fit` cannot be seen; the digest of the pipeline's graph takes their place.
"""

from __future__ import annotations

import hashlib
import re
from itertools import count
from typing import TYPE_CHECKING, Any, Iterator

from mwms_recorder.inside import finite
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
        self.unchecked = hook.settings.check_finite
        """True until a batch was not finite; False if batches are not checked."""

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
        return {
            "auto_shard_policy": options.experimental_distribute.auto_shard_policy.name,
            "deterministic": getattr(options, "deterministic", None),
            "element": str(dataset.element_spec)[:500],
            **self._pipeline(dataset),
        }

    def _pipeline(self, dataset: Any) -> dict[str, Any]:
        with self.hook.guarded("pipeline"):
            if self.hook.settings.fingerprint_data and self.tf.executing_eagerly():
                return {"pipeline": described(self.tf, dataset)}
        return {}

    def iterated(self, iterator: Any, *_dataset: Any) -> Any:
        """Observe or wrap `__next__` in the class of a new iterator, and return the iterator."""
        with self.hook.guarded("iterator"):
            self.hook.ticker.observe(getattr(type(iterator), "__next__", None), INPUT)
            self.hook.ticker.start()
            if self.hook.settings.fingerprint_data or self.unchecked:
                wrap(type(iterator), "__next__", self._see)
        return iterator

    def _see(self, batch: Any, iterator: Any) -> Any:
        """Record the digest of a batch and its first NaN, as the options ask; return the batch."""
        with self.hook.guarded("fingerprint"):
            if self.tf.executing_eagerly():
                number, index = getattr(iterator, "_mwms_recorder", None) or (next(self.numbers), 0)
                iterator._mwms_recorder = (number, index + 1)  # noqa: SLF001 - our own mark
                self._fingerprint(batch, iterator=number, index=index)
                self._check(batch, iterator=number, index=index)
        return batch

    def _fingerprint(self, batch: Any, **place: int) -> None:
        """Record the digest of a batch if it is one of its iterator's first 8."""
        if self.hook.settings.fingerprint_data and place["index"] < FINGERPRINTED_BATCHES:
            self.hook.note("batch", **place, sha256=self._digest(batch), source="iterator")

    def _check(self, batch: Any, **place: int) -> None:
        """Record the place of the first batch that holds NaN or infinite values, and skip later batches."""
        found = finite.nonfinite(self.tf, batch) if self.unchecked else None
        if found:
            self.unchecked = False
            self.hook.note("nonfinite_batch", **place, value=found)

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


PYTHON = {"PyFunc", "PyFuncStateless", "EagerPyFunc", "GeneratorDataset"}
_READS_FILES = re.compile(r"^(?:TFRecord|TextLine|FixedLengthRecord)Dataset|^ReadFile$|^MatchingFiles")
_SHUFFLES = re.compile(r"^Shuffle(?:AndRepeat)?Dataset")
_NUMBER = re.compile(r"_\d+$")
IGNORE_STATE = 1
"""`external_state_policy`: leave out the state of random generators, and warn of nothing."""


def described(tf: Any, dataset: Any) -> dict[str, Any]:
    """Return whether a pipeline reads files or shuffles without a seed, and the SHA-256 of its graph.

    There is no digest if the pipeline calls Python code, which may do anything.
    """
    variant = tf.data.experimental.to_variant(dataset)
    serialized = tf.raw_ops.DatasetToGraphV2(
        input_dataset=variant, external_state_policy=IGNORE_STATE, strip_device_assignment=True
    )
    graph = tf.compat.v1.GraphDef.FromString(serialized.numpy())
    operations = {node.op for node in _nodes(graph)}
    known = {
        "reads_files": any(map(_READS_FILES.match, operations)),
        "unseeded": any(_shuffles_without_seed(graph)),
    }
    return known if operations & PYTHON else {**known, "graph_sha256": _digest(tf, graph)}


def _nodes(graph: Any) -> Iterator[Any]:
    """Yield the nodes of a graph and of its functions."""
    yield from graph.node
    for function in graph.library.function:
        yield from function.node_def


def _shuffles_without_seed(graph: Any) -> Iterator[bool]:
    """Yield for each shuffle whether both its seeds are zero."""
    constants = {node.name: node.attr["value"].tensor for node in graph.node if node.op == "Const"}
    for node in graph.node:
        if _SHUFFLES.match(node.op):
            yield not any(_number(constants.get(name)) for name in node.input[2:4])


def _number(tensor: Any) -> int:
    """Return the integer that a scalar tensor holds; 0 for anything else."""
    values = [*tensor.int64_val, *tensor.int_val] if tensor else [0]
    return values[0] if values else int.from_bytes(tensor.tensor_content, "little")


def _digest(tf: Any, graph: Any) -> str:
    """Return the SHA-256 of a graph; names and handles, which differ between processes, do not count."""
    places = {node.name: f"{number}" for number, node in enumerate(graph.node)}
    digest = hashlib.sha256()
    for node in graph.node:
        node.name = places[node.name]
        node.input[:] = [places.get(name.partition(":")[0], name) for name in node.input]
        digest.update(_normalized(tf, node))
    functions = sorted(graph.library.function, key=lambda function: str(function.signature.name))
    for function in functions:
        for node in function.node_def:
            digest.update(_normalized(tf, node))
        digest.update(repr(sorted(function.ret.items())).encode())
    return digest.hexdigest()


def _normalized(tf: Any, node: Any) -> bytes:
    """Return a node's bytes without its device, metadata, resource handles and the numbers of functions."""
    node.device = ""
    node.attr.pop("metadata", None)
    if node.op == "Const" and node.attr["dtype"].type in (tf.resource, tf.variant):
        node.attr.pop("value")
    for value in node.attr.values():
        for function in (value.func, *value.list.func):
            if function.name:
                function.name = _NUMBER.sub("", function.name)
    normalized: bytes = node.SerializeToString(deterministic=True)
    return normalized
