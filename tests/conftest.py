"""What several tests share: the sample runs, a run made of a few lines, and which tests are unit tests."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from analyzer.discover import discover
from analyzer.model.run import Tables
from analyzer.pipeline import load_tables
from tests.purity import UnitTestGuard
from tests.recordings import SAMPLE_RUNS, Recordings
from tests.rules import few_rules as few_rules
from tests.rules import our_rules
from tests.rules import package_of_few_rules as package_of_few_rules

COSTS = {
    "unit": 0, "runs": 1, "rules": 2, "recordings": 3, "processes": 4, "browser": 5, "slow": 6, "tensorflow": 7,
    "install": 8,
}  # fmt: skip
"""Markers by what a test needs, the cheapest first; a test that has none of the others is a unit test."""
LONGEST_ID = 400
"""Characters of a text that names a test."""
SAMPLES = frozenset(SAMPLE_RUNS)
settings.register_profile("no clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("no clock")
RECORDINGS = pytest.StashKey[Recordings]()
FIXTURE_COSTS = {
    "tables_of": "runs",
    "recordings": "recordings",
    "sample_run": "recordings",
    "browser": "browser",
    "chromium": "browser",
    "postgres": "processes",
    "store": "processes",
    "after_sixty_nights": "slow",
}
"""Fixture → marker of the tests that ask for it."""


def pytest_xdist_auto_num_workers() -> int:
    """Return one more than the cores: tests that wait for Slurm, a browser or pip leave a third of the time idle."""
    return len(os.sched_getaffinity(0)) + 1


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Watch the unit tests, and read each sample run once; give polars one thread."""
    with pytest.MonkeyPatch.context() as environment:  # not for the commands that tests start
        environment.setenv("POLARS_MAX_THREADS", "1")
        import_module("polars")
    config.pluginmanager.register(UnitTestGuard(), "unit-test-guard")
    home: Path = config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
    shared = (home.parent if hasattr(config, "workerinput") else home) / "recordings"
    config.stash[RECORDINGS] = Recordings(shared)
    config.stash[RECORDINGS].install()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test by the costliest thing that it needs, and put the cheap ones first."""
    places = {}
    for item in items:
        marked = {mark.name for mark in item.iter_markers()} & COSTS.keys()
        needs = {FIXTURE_COSTS[name] for name in getattr(item, "fixturenames", ()) if name in FIXTURE_COSTS}
        needs |= {"recordings"} if takes_sample_run(item) else set()
        for name in sorted(needs) if marked | needs else ["unit"]:
            item.add_marker(name)
        places[item] = max((COSTS[name] for name in marked | needs), default=COSTS["unit"])
    items.sort(key=places.__getitem__)


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over the thousands of collected tests, which live to the end."""
    gc.collect()
    gc.freeze()


def pytest_make_parametrize_id(val: object) -> str | None:
    """Return the beginning of a long text as its part of a test's name, which every report repeats."""
    if not isinstance(val, str | bytes) or len(val) <= LONGEST_ID:
        return None
    return f"{val[:LONGEST_ID]!r} and {len(val) - LONGEST_ID:,} more"


def takes_sample_run(item: pytest.Item) -> bool:
    """Whether a test is parametrized with the directory of a sample run."""
    parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return any(isinstance(value, Path) and value in SAMPLES for value in parameters)


@pytest.fixture(scope="session")
def recordings(request: pytest.FixtureRequest) -> Recordings:
    """The sample runs, read and diagnosed, which the processes of pytest-xdist share."""
    return request.config.stash[RECORDINGS]


@pytest.fixture(params=SAMPLE_RUNS, ids=lambda path: path.name)
def sample_run(request: pytest.FixtureRequest) -> Path:
    """Each recorded sample run in turn."""
    path: Path = request.param
    return path


@pytest.fixture
def make_run(tmp_path: Path) -> Callable[[Mapping[str, str]], Path]:
    """Write files into a run directory and give its path."""

    def make(files: Mapping[str, str]) -> Path:
        folder = tmp_path / "job-17"
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        return folder

    return make


@pytest.fixture
def tables_of(make_run: Callable[[Mapping[str, str]], Path]) -> Callable[[Mapping[str, str]], Tables]:
    """All tables, read and derived, of a run made of a few lines."""
    return lambda files: load_tables(discover([make_run(files)]), our_rules())
