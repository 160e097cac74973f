"""Unit tests start no process, wait for no clock and open no recording; here that is watched."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.recordings import ROOT

STARTS_OR_WAITS = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "time.sleep"}
SAMPLE_RUNS = f"{ROOT / 'sample_runs'}/"


class UnitTestGuard:
    """Fails unit tests that start processes, sleep, or open files of a sample run."""

    def __init__(self) -> None:
        self._impure: list[str] | None = None
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._impure is None:
            return
        if event in STARTS_OR_WAITS:
            self._impure.append(f"{event}: mark it `processes`")
        elif event == "open" and "/run/" in str(arguments[0]) and str(arguments[0]).startswith(SAMPLE_RUNS):
            self._impure.append(f"opening {arguments[0]}: mark it `recordings`")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Watch one test while it runs."""
        self._impure = [] if item.get_closest_marker("unit") or item.get_closest_marker("rules") else None
        try:
            result = yield
        finally:
            heard, self._impure = self._impure, None
        if heard:
            pytest.fail(f"a unit test does without {heard[0]}")
        return result
