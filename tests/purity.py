"""Unit tests stay in one stage, start no process, wait for no clock, open no recording; that is watched."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.recordings import READS_RUN, ROOT

STARTS_OR_WAITS = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "time.sleep"}
MAY_DO_SO = ("recordings", "processes", "browser", "slow", "tensorflow", "install")
"""Markers of tests that are not watched."""
SAMPLE_RUNS = f"{ROOT / 'sample_runs'}/"


class UnitTestGuard:
    """Fails unit tests that read whole runs, start processes, sleep, or open files of a sample run."""

    def __init__(self) -> None:
        self._impure: list[str] | None = None
        self._one_stage = False
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._impure is None:
            return
        if event in STARTS_OR_WAITS:
            self._impure.append(f"{event}: mark it `processes`")
        elif event == READS_RUN and self._one_stage:
            self._impure.append("reading a whole run: mark it `runs`")
        elif event == "open" and "/run/" in str(arguments[0]) and str(arguments[0]).startswith(SAMPLE_RUNS):
            self._impure.append(f"opening {arguments[0]}: mark it `recordings`")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Watch one test while it runs, unless it says what it needs."""
        self._impure = None if any(map(item.get_closest_marker, MAY_DO_SO)) else []
        self._one_stage = item.get_closest_marker("unit") is not None
        try:
            result = yield
        finally:
            heard, self._impure = self._impure, None
        if heard:
            pytest.fail(f"a unit test does without {heard[0]}")
        return result
