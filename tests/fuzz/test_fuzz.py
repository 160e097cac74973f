"""Each reader on some seconds of mutated inputs; `python -m tests.fuzz` gives it as many as one likes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from random import Random
from time import sleep

import pytest

from analyzer.ingest.reader_output import SourceRows
from analyzer.model.run import Source, Tables
from tests.fuzz import harness
from tests.fuzz.harness import Hang, at_most, fuzz
from tests.fuzz.mutators import MUTATORS, Mutator
from tests.fuzz.target import Case, Target, names, readers, target

pytestmark = pytest.mark.slow

INPUTS = 150
NAMES = names()


@pytest.mark.parametrize("name", NAMES)
def test_no_crash_no_hang_no_silence(name: str, tmp_path: Path) -> None:
    """Whatever became of a real file."""
    tally = fuzz(target(name), range(INPUTS), seed=0, scratch=tmp_path)
    assert tally.inputs == INPUTS
    assert tally.failures == {}


def test_every_reader_is_a_target() -> None:
    """A new one needs no line here, only real files."""
    assert {*readers(), "archives", "collectors", "discover", "decompress", "documents"} == set(NAMES)
    assert all(target(reader).seeds for reader in readers())


def test_inputs_follow_from_their_number(tmp_path: Path) -> None:
    """So that a failure can be had again, and no two are alike for nothing."""
    logs = target("exports")
    first = [logs.case(number, 3, tmp_path) for number in range(40)]
    assert first == [logs.case(number, 3, tmp_path) for number in range(40)]
    assert all(case.data != case.seed.data for case in first)
    assert len({case.data for case in first}) > 35


@pytest.mark.parametrize("name", MUTATORS)
@pytest.mark.parametrize("data", [b"", b"a", b"step 1 loss 0.5\n" * 40])
def test_a_mutator_takes_any_bytes(name: str, data: bytes) -> None:
    """The empty file too, and chance decides what is made of it."""
    mutator: Mutator = MUTATORS[name]
    made = [mutator(data, Random(number), b"other\n") for number in range(30)]
    assert made == [mutator(data, Random(number), b"other\n") for number in range(30)]
    assert len(data) < 2 or len(set(made)) > 1


def tried(
    reader: object, diagnose_tables: object, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    """What is found wrong with a reader of logs and a judge of ours."""
    monkeypatch.setattr("analyzer.ingest.logs.log_reader.read", reader)
    real = target("exports")
    made = Target("exports", real.seeds, MUTATORS, real.lay, diagnose_tables or real.wrong)  # type: ignore[arg-type]
    failures = fuzz(made, [1], seed=0, scratch=folder).failures
    return [fault for faults in failures.values() for fault in faults]


def silent(source: Source, matcher: object, *watch: object) -> list[object]:
    """A reader that reads nothing, and says that it read all."""
    return [SourceRows(source)]


def failing(source: Source, matcher: object, *watch: object) -> None:
    """A reader with a mistake."""
    raise IndexError("ours")


def hanging(source: Source, matcher: object, *watch: object) -> None:
    """A reader that never ends."""
    sleep(60)


def objects(case: Case, tables: Tables) -> Iterable[str]:
    """A judge that is never content."""
    yield "not good enough"


def test_a_crash_a_hang_and_a_silence_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The harness itself can fail, which is what makes its silence worth something."""
    assert tried(failing, None, tmp_path, monkeypatch) == ["crashes: reader failed: IndexError: ours"]
    assert tried(silent, objects, tmp_path, monkeypatch) == ["not good enough"]
    monkeypatch.setattr(harness, "LONGEST", 0.5)
    assert "hangs" in tried(hanging, None, tmp_path, monkeypatch)[0]
    assert [path.name for path in tmp_path.iterdir()] == ["exports-0-1"]


def test_the_limit_leaves_other_alarms_alone() -> None:
    """The runner of the tests has one of its own."""
    with pytest.raises(Hang), at_most(0.5), at_most(0.05):
        sleep(2)
    with at_most(0.2):
        with at_most(5):
            pass
        with pytest.raises(Hang):
            sleep(2)
