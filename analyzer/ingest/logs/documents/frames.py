"""Frames in which Nomad's interface streams the output of a task: JSON objects with parts of it in Base64."""

from base64 import b64decode
from collections.abc import Sequence

from analyzer.ingest.logs.documents import TextLine
from analyzer.ingest.logs.entries.json_lines import objects_in_turn
from analyzer.ingest.logs.text import decode


def read(text: str) -> Sequence[TextLine]:
    """Return the lines of the files that the frames are of, one after the other; a heartbeat has none."""
    files: dict[str, bytearray] = {}
    for _, frame in objects_in_turn(text):
        files.setdefault(str(frame.get("File")), bytearray()).extend(_part(frame.get("Data")))
    joined = "".join(decode(bytes(parts)) for parts in files.values())
    return [TextLine("", line) for line in joined.split("\n")] if joined else []


def _part(data: object) -> bytes:
    """Return what a frame holds; nothing of one that is damaged."""
    try:
        return b64decode(data, validate=True) if isinstance(data, str) else b""
    except ValueError:
        return b""
