"""Whatever a run holds: an answer of the documented exit statuses, within bounds of time and memory."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.hostile import attacks
from tests.hostile.measure import analyzed

ANSWERS = {0, 1, 3, 4}
"""Exit statuses of an analysis that came to an end."""


class Case(NamedTuple):
    """An attack, the most that it may cost, and what the report states about the damage."""

    attack: Callable[[Path], None]
    seconds: float = 10
    """Processor seconds, about three times those of one core of 2024."""
    megabytes: int = 300
    says: str = ""
    budget: str = "none"
    """What `--budget` allows."""


FAST = [
    Case(attacks.extreme_numbers, says="a time that no clock shows"),
    Case(attacks.false_headers, says="fails its checksum"),
    Case(attacks.many_values_in_one_event),
    Case(attacks.large_json, says="brackets"),
    Case(attacks.compressed_json, says="brackets"),
    Case(attacks.aliases),
    Case(attacks.endless_rows),
    Case(attacks.tar_of_long_names, says="a header of"),
    Case(attacks.tar_of_gnu_names, says="a header of"),
]
SLOW = [
    Case(attacks.many_tags, 15, says="those after the first"),
    Case(attacks.large_event_file, 30),
    Case(attacks.other_layouts, 25),
    Case(attacks.zeros, 20),
    Case(attacks.broken_records, 15, says="many parts that could not be read"),
    Case(attacks.large_chrome_trace, 30, says="those after them are left out"),
    Case(attacks.large_xplane, 30, says="those after them are left out"),
    Case(attacks.compressed_log, 15, says="the rest is left out"),
    Case(attacks.compressed_events, 15, says="exceeds the run's budget", budget="0.1GB"),
    Case(attacks.compressed_events, says="exceeds the run's budget of 1 s", budget="1s"),
    Case(attacks.cluster_of_a_million),
    Case(attacks.a_million_tracebacks, 15),
    Case(attacks.long_line, 15),
    Case(attacks.many_gzip_members, 20),
    Case(attacks.tf_config_of_10_000),
    Case(attacks.logs_of_10_000, 40, 450),
    Case(attacks.log_of_a_million_workers, 15),
    Case(attacks.many_tar_members, 30, 400, says="holds more than 20000 files"),
    Case(attacks.many_pax_headers, 30, says="are empty"),
    Case(attacks.many_threads_in_a_trace, 15),
]


def named(case: Case) -> str:
    """The name of the attack."""
    return f"{case.attack.__name__}, budget {case.budget}"


@pytest.mark.processes
@pytest.mark.parametrize("case", FAST, ids=named)
def test_an_attack_stays_within_its_bounds(case: Case, tmp_path: Path) -> None:
    """Time, memory, exit status, and what was lost."""
    check(case, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("case", SLOW, ids=named)
def test_a_large_attack_stays_within_its_bounds(case: Case, tmp_path: Path) -> None:
    """As above, of files that take seconds to read."""
    check(case, tmp_path)


def check(case: Case, folder: Path) -> None:
    """Make the run, analyze it, and compare what that took with what it may take."""
    run = folder / "run"
    case.attack(run)
    target = run if run.exists() else next(folder.glob("run.*"))
    used = analyzed(target, folder / "report", math.ceil(3 * case.seconds), ["--budget", case.budget])
    assert used.status in ANSWERS, used.output
    assert used.cpu_seconds <= case.seconds
    assert used.peak_bytes <= case.megabytes * 10**6
    document = next((folder / "report").glob("*.json"), None)
    stated = json.dumps(json.loads(document.read_text())) if document else used.output
    assert case.says in stated
