"""A small run gets one thread of polars, unless somebody decided otherwise."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from analyzer.cli import polars_threads
from analyzer.cli.polars_threads import limit_polars_threads


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of 300 bytes in two files, one of them in a folder, before polars is imported."""
    monkeypatch.setattr(polars_threads, "SMALL_RUN_BYTES", 300)
    monkeypatch.delitem(sys.modules, "polars", raising=False)
    monkeypatch.setenv("POLARS_MAX_THREADS", "")
    monkeypatch.delenv("POLARS_MAX_THREADS")
    (tmp_path / "logs").mkdir()
    (tmp_path / "worker-0.log").write_bytes(bytes(100))
    (tmp_path / "logs" / "worker-1.log").write_bytes(bytes(200))
    return tmp_path


def test_a_small_run_gets_one_thread(run: Path) -> None:
    """A directory, or a file of it."""
    limit_polars_threads([run])
    assert os.environ["POLARS_MAX_THREADS"] == "1"


def test_a_larger_run_gets_all(run: Path) -> None:
    """All paths count together."""
    limit_polars_threads([run, run / "worker-0.log"])
    assert "POLARS_MAX_THREADS" not in os.environ


def test_what_the_user_has_set_stays(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it is."""
    monkeypatch.setenv("POLARS_MAX_THREADS", "3")
    limit_polars_threads([run])
    assert os.environ["POLARS_MAX_THREADS"] == "3"


def test_where_polars_is_imported_nothing_is_set(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would no longer read it; processes started later would."""
    monkeypatch.setitem(sys.modules, "polars", sys)
    limit_polars_threads([run])
    assert "POLARS_MAX_THREADS" not in os.environ
