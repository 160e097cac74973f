"""Tests that share a service run in one process of pytest-xdist."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.xdist_group("groups")


def test_groups_are_honoured(request: pytest.FixtureRequest) -> None:
    """Pytest 9.2.0 with pytest-xdist 3.8.0 silently ignores them, and two Slurms meet on one machine."""
    assert request.node.nodeid.endswith("@groups") == hasattr(request.config, "workerinput")
