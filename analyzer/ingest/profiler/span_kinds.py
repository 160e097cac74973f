"""What the events of a trace are, as far as names and threads tell: collective, step, input, compute, ..."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

NOTES = {"ExecutorState::ProcessAsync::Start": "begun", "ExecutorState::ProcessAsync::Done": "done",
         "PrefetchProduce": "clock"}  # fmt: skip
"""Events that say something of the work of others → what."""

_KINDS = {
    "collective": r"(?:.*:)?Collective(?:Reduce|Bcast|Gather|AllToAll)\w*$|.*Ring(?:Reduce|Gather)"
    r"|nccl(?:Dev)?Kernel|.*Nccl(?:AllReduce|AllGather|Broadcast|Reduce)|(?:.*/)?all-(?:reduce|gather)",
    "input": r"(?:.*:)?IteratorGetNext\w*(?:::DoCompute)?$|Iterator::Root$|.*:MultiDeviceIteratorGetNext\w*$",
    "copy": r".*(?:HostToDevice|MemcpyH2D|Memcpy HtoD)|TransferToDevice",
    "compile": r".*(?:XlaCompile|TfrtCompile|LocalExecutable::Compile|Compile(?:Graph|Function))|compile\b",
    "step": r"StepMarker|TraceContext",
}
_KIND = [(kind, re.compile(pattern)) for kind, pattern in _KINDS.items()]
_OPERATION = re.compile(
    r"[^:\s]+:(?!(?:\w*PartitionedCall|RemoteCall|\w*PyFunc\w*|_\w*(?:Recv|Send)|While|If|Case)$)_?[A-Z]\w*$"
)
"""`name:Type` of a kernel that computes; those left out call others, or wait for them.

What Python does within a graph is mostly to make input, and up to 2.4 no thread tells which.
"""
_INPUT_THREAD = re.compile(r"tf_data")
_DEVICE_LINE = re.compile(r"Stream|XLA Ops")


def kind_of(name: str, stats: Mapping[str, Any], device: bool = False) -> str | None:
    """What the events of one name are, and None for those that tell nothing.

    Notes on others are `begun`, `done` and `clock`. What a device runs is computing unless its name says
    better; of a host, only TensorFlow's operations are.
    """
    if name in NOTES:
        return NOTES[name]
    if "step_num" in stats:
        return "step"
    if "tf_function_call" in stats:
        return "function"
    if (named := kind_of_operation(name)) is not None or not name:
        return named
    return "compute" if device or _OPERATION.match(name) else None


def kind_of_operation(name: str) -> str | None:
    """What an operation is by its name or its type alone: collective, input, copy, compile or step."""
    return next((kind for kind, pattern in _KIND if pattern.match(name)), None)


def computes(thread: str, device: bool) -> bool:
    """Whether the operations on a thread are the training's own: tf.data's threads prepare its input.

    Of a device, the streams; its other lines are drawn from those once more.
    """
    return bool(_DEVICE_LINE.match(thread)) if device else not _INPUT_THREAD.match(thread)
