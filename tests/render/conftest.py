"""Chromium, for the tests that look at reports as people do."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.render.browsing import ARGS, CHROMIUM


@pytest.fixture(scope="session")
def chromium() -> Path:
    """Where Chromium is; where it is missing, skip, but never in CI."""
    if not CHROMIUM.exists():
        if os.environ.get("CI"):
            pytest.fail(f"{CHROMIUM} is missing")
        pytest.skip(f"{CHROMIUM} is missing")
    pytest.importorskip("playwright.sync_api")
    return CHROMIUM


@pytest.fixture(scope="module")
def browser(chromium: Path) -> Iterator[Any]:
    """Start Chromium with an empty profile."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as tool:
        started = tool.chromium.launch(executable_path=str(chromium), args=ARGS)
        yield started
        started.close()
