"""Flight recorder for TensorFlow jobs."""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"


def start(out: str, **options: Any) -> bool:
    """Record this process into `out`; return True if recorded (`mwms_recorder.inside.starting.start`)."""
    from mwms_recorder.inside import starting

    return starting.start(out, **options)
