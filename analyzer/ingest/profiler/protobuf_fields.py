"""Iterates over the fields of an XSpace and its planes undecoded, so that damage stays local."""

from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from analyzer.ingest.profiler.file_window import FileWindow

SPACE = {1: 2, 2: 2, 3: 2, 4: 2}
PLANE = {1: 0, 2: 2, 3: 2, 4: 2, 5: 2, 6: 2}
"""Field number → wire type in an XPlane. Traces have no checksums: other wire types count as damage."""


class Field(NamedTuple):
    """One field: its number, its value, and the value's offset and length in bytes."""

    number: int
    value: int | FileWindow
    offset: int
    length: int


def field_at(data: FileWindow, pos: int, known: Mapping[int, int]) -> tuple[Field, int]:
    """Return the field at `pos`, and the offset of the next field.

    Raises:
        IndexError: the data ends inside the field.
        ValueError: no field of a trace looks like this.
    """
    tag, pos = _varint(data, pos)
    number, wire = tag >> 3, tag & 7
    if wire != known.get(number, 2):
        raise ValueError(tag)
    if wire == 0:
        value, end = _varint(data, pos)
        return Field(number, value, pos, end - pos), end
    if not 0 < number < 16:
        raise ValueError(tag)
    length, pos = _varint(data, pos)
    if pos + length > len(data):
        raise IndexError(length)
    return Field(number, data[pos : pos + length], pos, length), pos + length


def cut_plane(space: FileWindow) -> tuple[int, int] | None:
    """Return the offsets of the plane cut by the end of the file and of its contents; None if none is cut."""
    pos = 0
    try:
        while pos < len(space):
            _, pos = field_at(space, pos, SPACE)
    except IndexError:
        with suppress(IndexError, ValueError):
            tag, at = _varint(space, pos)
            _, at = _varint(space, at)
            return (pos, at) if tag == 1 << 3 | 2 and at < len(space) else None
    except ValueError:
        return None
    return None


def _varint(data: FileWindow, pos: int) -> tuple[int, int]:
    value = 0
    for index in range(10):
        byte = data[pos + index]
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return value, pos + index + 1
    raise ValueError(value)
