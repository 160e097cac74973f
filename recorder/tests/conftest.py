"""Fixtures of the recorder's tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded import Recorder


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    """Return a recorder that writes into a directory of its own."""
    return Recorder(tmp_path / "out")
