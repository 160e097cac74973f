"""The scalars of one decoded Event message."""

import struct
from collections.abc import Iterator, Sequence
from typing import Any

from analyzer.ingest.tensorboard.event_pb2 import Event

Scalar = tuple[str, int, float, float]
"""Tag, step, wall time (seconds since the epoch), value."""

_Message = Any
"""A protobuf message; the generated code carries no types."""
_DTYPES = {
    1: ("f", "float_val"), 2: ("d", "double_val"), 3: ("i", "int_val"), 4: ("B", "int_val"),
    5: ("h", "int_val"), 6: ("b", "int_val"), 9: ("q", "int64_val"), 10: ("?", "bool_val"),
    14: ("H", "half_val"), 17: ("H", "int_val"), 19: ("e", "half_val"), 22: ("I", "uint32_val"),
    23: ("Q", "uint64_val"),
}  # fmt: skip
"""tensorflow.DataType → struct code of `content`, and the field that may hold the value instead."""
_BFLOAT16, _HALF = 14, 19
_FLOAT = struct.Struct("<f")


def event_scalars(event: Event) -> Iterator[Scalar]:
    """Yield the scalars of an event: simple values, and tensors of rank 0 of any real number type."""
    for value in event.summary.value:
        kind = value.WhichOneof("value")
        number = (
            value.simple_value if kind == "simple_value" else _tensor_value(value.tensor) if kind else None
        )
        if number is not None:
            yield value.tag.decode(errors="replace"), event.step, event.wall_time, number


def _tensor_value(tensor: _Message) -> float | None:
    """Return the value of a tensor of rank 0; None for other ranks and types."""
    if tensor.dtype not in _DTYPES or tensor.shape.dim or tensor.shape.unknown_rank:
        return None
    code, field = _DTYPES[tensor.dtype]
    content = tensor.content
    if code == "f" and len(content) == _FLOAT.size:
        return float(_FLOAT.unpack(content)[0])
    if not content:
        return _field_value(tensor.dtype, getattr(tensor, field))
    if len(content) != struct.calcsize(f"<{code}"):
        return None
    (number,) = struct.unpack(f"<{code}", content)
    return _field_value(_BFLOAT16, [number]) if tensor.dtype == _BFLOAT16 else float(number)


def _field_value(dtype: int, values: Sequence[float]) -> float:
    """Return the value of a scalar from its value field; TensorFlow may omit a value of 0."""
    if not values:
        return 0.0
    if dtype not in (_BFLOAT16, _HALF):
        return float(values[0])
    bits = int(values[0]) & 0xFFFF
    raw, code = (bits << 16, "<I<f") if dtype == _BFLOAT16 else (bits, "<H<e")
    (number,) = struct.unpack(code[2:], struct.pack(code[:2], raw))
    return float(number)
