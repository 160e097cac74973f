"""Classifies the events of a trace by name and thread: as collective, step, input, compute and others."""

import re
from collections.abc import Mapping
from typing import Any

NOTES = {"ExecutorState::ProcessAsync::Start": "begun", "ExecutorState::ProcessAsync::Done": "done",
         "PrefetchProduce": "clock"}  # fmt: skip
"""Names of events that report on other operations → what they report."""

_KINDS = {
    "collective": r"(?:.*:)?Collective(?:Reduce|Bcast|Gather|AllToAll)\w*$|.*Ring(?:Reduce|Gather)"
    r"|nccl\w*Kernel|.*Nccl(?:AllReduce|AllGather|Broadcast|Reduce)|(?:.*/)?all-(?:reduce|gather)",
    "input": r"(?:.*:)?IteratorGetNext\w*(?:::DoCompute)?$|Iterator::Root$|.*:MultiDeviceIteratorGetNext\w*$",
    "copy": r".*(?:HostToDevice|MemcpyH2D|Memcpy HtoD)|TransferToDevice",
    "compile": r".*(?:XlaCompile|TfrtCompile|LocalExecutable::Compile|Compile(?:Graph|Function))|compile\b",
    "step": r"StepMarker|TraceContext",
}
_KIND = [(kind, re.compile(pattern)) for kind, pattern in _KINDS.items()]
_OPERATION = re.compile(
    r"[^:\s]+:(?!(?:\w*PartitionedCall|RemoteCall|\w*PyFunc\w*|_\w*(?:Recv|Send)|While|If|Case)$)_?[A-Z]\w*$"
)
"""Regex for `name:Type` of a kernel that computes; the excluded types call or await other kernels.

Python functions within a graph are excluded, too: they mostly make input, and up to TensorFlow 2.4 their
threads look like any other.
"""
_INPUT_THREAD = re.compile(r"tf_data")
_DEVICE_LINE = re.compile(r"Stream|XLA Ops")


def kind_of(name: str, stats: Mapping[str, Any], device: bool = False) -> str | None:
    """Return the kind of the events of one name; None if they are of no interest.

    Events that only report on another operation have the kinds `begun`, `done` and `clock`. All remaining
    events of a device are `compute`; of a host, only TensorFlow's operations are.
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
    """Return the kind of an operation by its name or type: collective, input, copy, compile, step or None."""
    return next((kind for kind, pattern in _KIND if pattern.match(name)), None)


def computes(thread: str, device: bool) -> bool:
    """Return whether the operations on a thread belong to the training; tf.data's threads prepare its input.

    On a device, only its streams count; its other lines repeat them.
    """
    return bool(_DEVICE_LINE.match(thread)) if device else not _INPUT_THREAD.match(thread)
