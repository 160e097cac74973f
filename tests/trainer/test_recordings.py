"""The recorded sample runs: unedited, small, and silent about how they were made."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING

import pytest

from analyzer.trainer import catalogue
from analyzer.trainer.jobs.workloads import Workload, workload_names
from analyzer.trainer.record import LIMIT, expected_json
from analyzer.trainer.scenario import load_scenario

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.trainer.scenario import Scenario

RECORDED = sorted(path.parent for path in catalogue.SAMPLE_RUNS.glob("*/expected.json"))
# `inject_prefetch` is an optimization of tf.data, which a trace names
BETRAYAL = re.compile(
    rb"\binject(?![_/]prefetch)|\bfaults?\b|send_signal|bad_value|hold_lock|hold_port|never_start|mwms|analyzer",
    re.IGNORECASE,
)


def places_of_workloads() -> Iterator[bytes]:
    """Yield where the programs of the workloads and their packages are said to lie."""
    for workload in map(Workload.load, workload_names()):
        yield from (f"{workload.home}/".encode(), f"{workload.environment}/".encode())


# where a frame of a traceback lies in the container that `Neutral` makes of the recording machine
CONTAINER = (b"/workspace/", b"/opt/venv/", b"/usr/lib/", *places_of_workloads())
FRAME = re.compile(rb'File "(/[^"]+)", line \d')
HERE = {str(path).encode() for path in (catalogue.SAMPLE_RUNS.parent, Path(gettempdir()), Path.home())}

each_sample_run = pytest.mark.parametrize("home", RECORDED, ids=lambda home: home.name)


def files(folder: Path) -> list[Path]:
    """Return every file below a folder."""
    return [path for path in sorted(folder.rglob("*")) if path.is_file()]


def file(home: Path) -> Scenario:
    """Return the scenario of a recording, with the guilty worker of which its origin tells."""
    origin = dict(
        re.findall(r"^\| ([\w ]+?) \| `?(.+?)`? \|$", (home / "origin.md").read_text(), re.MULTILINE)
    )
    guilty = origin["guilty worker"]
    path = catalogue.SAMPLE_RUNS.parent / origin["scenario"]
    return load_scenario(path, None if guilty == "none" else int(guilty))


def test_there_are_sample_runs() -> None:
    """Every recording has a scenario, and is called like it."""
    assert RECORDED
    assert all(home.name.startswith(file(home).name) for home in RECORDED)


@each_sample_run
def test_expected_is_what_the_scenario_says(home: Path) -> None:
    """`expected.json` is the trainer's: it differs from the scenario only when a hand changed one of them."""
    scenario = file(home)
    assert (home / "expected.json").read_text() == expected_json(scenario)


@each_sample_run
def test_it_is_whole_and_small(home: Path) -> None:
    """A sample run is `run/`, `expected.json` and `origin.md`, under a megabyte together."""
    assert {path.name for path in home.iterdir()} == {"run", "expected.json", "origin.md"}
    assert sum(path.stat().st_size for path in files(home)) <= LIMIT


@each_sample_run
def test_nothing_tells_how_it_was_made(home: Path) -> None:
    """No file that was handed over names the injection."""
    for path in files(home / "run"):
        found = BETRAYAL.search(str(path.relative_to(home)).encode() + b"\n" + path.read_bytes())
        assert found is None, f"{path.relative_to(home)}: {found and found[0]!r}"


@each_sample_run
def test_every_path_is_one_of_a_container(home: Path) -> None:
    """No traceback and no message leads to the machine that the run was recorded on."""
    for path in files(home / "run"):
        content = path.read_bytes()
        strangers = [frame for frame in FRAME.findall(content) if not frame.startswith(CONTAINER)]
        assert strangers == [], path.relative_to(home)
        assert [there for there in HERE if there + b"/" in content] == [], path.relative_to(home)


@pytest.mark.recordings
def test_an_exit_code_is_a_number_or_running() -> None:
    """No file holds Python's `None`; the crash of a profiler is older than this and cannot be replayed."""
    codes = re.compile(r"(?:[a-z]+-\d+ (?:-?\d+|running)\n)+")
    odd = {
        home.name
        for home in RECORDED
        for path in (home / "run").glob("exit_codes.txt")
        if not codes.fullmatch(path.read_text())
    }
    assert odd == {"profiler-crash-tf218"}


@each_sample_run
def test_what_is_handed_over_is_there(home: Path) -> None:
    """Every part that the scenario hands over left at least one file, and no other part did."""
    scenario = file(home)
    signs = {
        "logs": r"\.log$|\.out$|stdout\.txt$|journal\.txt$|cloud-logging\.json$",
        "exit_codes": r"exit_codes\.txt$",
        "tf_config": r"tf_config.*\.json$",
        "events": r"events\.out\.tfevents",
        "trace": r"\.xplane\.pb$",
        "disks": r"df-[^/]*\.txt$",
        "stacks": r"py-spy-[^/]*\.txt$",
        "gpu": r"nvidia-smi-q\.txt$",
    }
    names = [str(path) for path in files(home / "run")]
    there = {part for part, sign in signs.items() if any(re.search(sign, name) for name in names)}
    assert there == set(scenario.hands_over)
