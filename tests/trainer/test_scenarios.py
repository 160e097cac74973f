"""Scenario files: all of ours load, and every mistake in one is named with its line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from analyzer.trainer import catalogue
from analyzer.trainer.scenario import load_scenario
from analyzer.trainer.scenario_file import ScenarioError

if TYPE_CHECKING:
    from pathlib import Path

GOOD = """\
description: One of two is killed.
workers: 2
guilty: 1
step: 7
mode: fit
fault: {name: send_signal, signal: KILL}
hands_over: [logs]
expect:
  cause: peer.killed
  culprits: [guilty]
"""


def write(folder: Path, text: str) -> Path:
    """Write a scenario file."""
    path = folder / "one.yaml"
    path.write_text(text)
    return path


def test_every_scenario_loads() -> None:
    """Every scenario of the checkout is valid, and its culprits are workers of its job."""
    for scenario in catalogue.all_scenarios():
        names = {scenario.task(index) for index in range(scenario.workers)}
        assert names.issuperset(scenario.expected()["culprits"]), scenario.name


def test_guilty_stands_for_the_guilty_worker(tmp_path: Path) -> None:
    """`guilty` among the culprits becomes the worker that the scenario names."""
    expected = load_scenario(write(tmp_path, GOOD)).expected()
    assert expected == {"cause": "peer.killed", "culprits": ["worker:1"], "suspects": []}


def test_a_recording_may_tell_more_than_the_files(tmp_path: Path) -> None:
    """Without exit codes a worker vanished; the recorder saw how it ended."""
    told = GOOD.replace("cause: peer.killed", "cause: peer.vanished")
    path = write(tmp_path, told + "  recorded: {cause: peer.killed}\n")
    assert load_scenario(path).expected()["cause"] == "peer.vanished"
    path = write(tmp_path, "recorder: true\n" + path.read_text())
    assert load_scenario(path).expected()["cause"] == "peer.killed"
    with pytest.raises(ScenarioError, match="unknown key `reason`"):
        load_scenario(write(tmp_path, told + "  recorded: {reason: peer.killed}\n"))


def test_random_guilt_is_repeatable(tmp_path: Path) -> None:
    """The same seed draws the same worker."""
    path = write(tmp_path, GOOD.replace("guilty: 1", "guilty: random\nseed: 5"))
    drawn = {load_scenario(path).guilty for _ in range(5)}
    assert len(drawn) == 1


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("step: 7", "stepp: 7", 4, "unknown key `stepp`"),
        ("step: 7", "step: soon", 4, "`step` must be a whole number of at least 1"),
        ("step: 7", "step: 700", 4, "the job has only 60 steps"),
        ("guilty: 1", "guilty: 2", 3, "an index from 0 to 1"),
        ("guilty: 1", "guilty: random", 3, "needs a `seed`"),
        ("mode: fit", "mode: fitt", 5, "`mode` must be one of: fit, custom"),
        ("send_signal", "sendsignal", 6, "no such fault: 'sendsignal'"),
        ("signal: KILL", "number: 9", 6, "unknown key `number`"),
        ("signal: KILL", "signal: KIL", 6, "no such signal: 'KIL'"),
        ("signal: KILL", "signal: 9", 6, "no such signal: 9"),
        ("[logs]", "[log]", 7, "`hands_over` must be a list of: logs"),
        ("[logs]", "[logs", 8, ""),
        ("  culprits: [guilty]\n", "", 8, "key `culprits` is missing"),
        ("  culprits", "  culprit", 10, "unknown key `culprit`"),
        ("workers: 2\n", "", 1, "key `workers` is missing"),
        (GOOD, "- a list\n", 1, "a scenario is a mapping"),
    ],
)
def test_a_mistake_is_named_with_file_and_line(
    tmp_path: Path, old: str, new: str, line: int, said: str
) -> None:
    """The complaint begins with the file and the line on which the mistake stands."""
    path = write(tmp_path, GOOD.replace(old, new))
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert said in str(caught.value)


def test_an_unknown_name_is_the_users_to_mend() -> None:
    """A scenario that is not there is said to be so."""
    with pytest.raises(ScenarioError, match="no such scenario"):
        catalogue.find_scenario("no-such-thing")
