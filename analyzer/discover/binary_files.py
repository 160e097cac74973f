"""Recognizes binary files that are named like logs."""

import re
from pathlib import Path

from analyzer.storage.decompress import is_compressed

_SAMPLE_BYTES = 4_000
_MIN_BYTES = 200
"""Minimum number of bytes that tell; a log may end within a character."""
_CONTROLS = re.compile(rb"[\1-\x08\x0e-\x1a\x1c-\x1f]")
"""Matches bytes that no terminal prints, except NUL, with which a crash of a host fills logs."""
_MIN_CONTROLS, _MIN_UNDECODED = 0.03, 0.2


def is_binary(path: Path) -> bool:
    """Return True if beginning, middle and end of a file hold no text; compressed files are not judged.

    A damaged log still has text in one of them.
    """
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            samples = []
            for at in (0, max(0, size - _SAMPLE_BYTES) // 2, max(0, size - _SAMPLE_BYTES)):
                file.seek(at)
                samples.append(file.read(_SAMPLE_BYTES))
    except OSError:
        return False
    return not is_compressed(samples[0]) and all(map(_is_noise, samples))


def _is_noise(sample: bytes) -> bool:
    """Return True if many bytes are control characters, and many are no UTF-8."""
    written = sample.replace(b"\0", b"")
    if len(written) < max(_MIN_BYTES, len(sample) // 2):
        return False
    undecoded = written.decode("utf-8", "replace").count("\ufffd")
    controls = len(_CONTROLS.findall(written))
    return controls > _MIN_CONTROLS * len(written) and undecoded > _MIN_UNDECODED * len(written)
