# ruff: noqa: ANN401
"""Windows of sensor values."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def normalise(window: Any, load: Any) -> tuple[Any, Any]:
    """Subtract the mean from a window."""
    return window - tf.reduce_mean(window), load
