"""Recognizes files that are no logs: binary files that are named like some, and documents."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from analyzer.storage.decompress import is_compressed

_SAMPLE_BYTES = 4_000
_MIN_BYTES = 200
"""Minimum number of bytes that tell; a log may end within a character."""
_CONTROLS = re.compile(rb"[\1-\x08\x0e-\x1a\x1c-\x1f]")
"""Matches bytes that no terminal prints, except NUL, with which a crash of a host fills logs."""
_MIN_CONTROLS, _MIN_UNDECODED = 0.03, 0.2
_DOCUMENTS = (b"%PDF-", b"%!PS-", b"{\\rtf")
"""First bytes of documents that begin like a text: PDF, PostScript, RTF."""
_MAX_JSON_BYTES = 1 << 20
_SENTENCE = re.compile(r"\S\s+\S|\S{80}")
"""Regex for what a value of JSON holds that may be a line of a log, but no value of a setting."""


def is_binary(path: Path) -> bool:
    """Return True if beginning, middle and end of a file hold no text; compressed files are not judged.

    A damaged log still has text in one of them.
    """
    try:
        with path.open("rb", buffering=0) as file:
            size = file.seek(0, 2)
            for at in (0, max(0, size - _SAMPLE_BYTES) // 2, max(0, size - _SAMPLE_BYTES)):
                file.seek(at)
                sample = file.read(_SAMPLE_BYTES)
                if not _is_noise(sample) or (at == 0 and is_compressed(sample)):
                    return False
    except OSError:
        return False
    return True


def _is_noise(sample: bytes) -> bool:
    """Return True if many bytes are control characters, and many are no UTF-8."""
    written = sample.replace(b"\0", b"")
    if len(written) < max(_MIN_BYTES, len(sample) // 2):
        return False
    undecoded = written.decode("utf-8", "replace").count("\ufffd")
    is_undecoded = undecoded > _MIN_UNDECODED * len(written)
    return is_undecoded and len(_CONTROLS.findall(written)) > _MIN_CONTROLS * len(written)


def is_document(path: Path, opening: bytes) -> bool:
    """Return True for a document of another program, and for JSON whose values hold no sentence."""
    if opening.startswith(_DOCUMENTS):
        return True
    if opening.lstrip()[:1] not in {b"{", b"["} or path.stat().st_size > _MAX_JSON_BYTES:
        return False
    try:
        return not any(_SENTENCE.search(text) for text in _strings(json.loads(path.read_bytes())))
    except (OSError, ValueError, RecursionError):
        return False


def _strings(value: object) -> Iterator[str]:
    """Yield the texts among the values of a JSON document."""
    waiting: list[object] = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict | list):
            waiting += each.values() if isinstance(each, dict) else each
