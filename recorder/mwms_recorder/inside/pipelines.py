"""Describes what a `tf.data` pipeline computes by a digest of its graph, without reading an element of it.

`Model.fit` advances its iterator inside TensorFlow, so its batches cannot be seen. Pipelines with equal
graphs, which have file names, seeds and in-memory tensors as constants, yield the same data.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any, Iterator

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
    if tensor is None:
        return 0
    values = [*tensor.int64_val, *tensor.int_val]
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
        for function in (
            (value.func, *value.list.func) if value.WhichOneof("value") in ("func", "list") else ()
        ):
            if function.name:
                function.name = _NUMBER.sub("", function.name)
    normalized: bytes = node.SerializeToString(deterministic=True)
    return normalized
