"""The runs under mwms-recorder are diagnosed as the trainer that broke them says, by its recordings alone."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import jsonschema
import pytest

from analyzer.trainer.catalogue import SCENARIOS
from analyzer.trainer.jobs.sandbox.leftovers import JOB
from analyzer.trainer.path_anonymizer import PathAnonymizer
from analyzer.trainer.scoring.scoreboard import known_misses_of
from tests.recordings import RECORDED_RUNS, ROOT, Recordings, expected

HOME = ROOT / "sample_runs" / "recorded"
MISSES = known_misses_of(HOME)
"""Name of a run whose answer is not right yet → the reason."""
SCHEMA = json.loads((ROOT / "recorder" / "recording.schema.json").read_text(encoding="utf-8"))
pytestmark = pytest.mark.recordings
each_run = pytest.mark.parametrize("run", RECORDED_RUNS, ids=lambda run: run.name)


@each_run
def test_cause_and_culprits_are_those_that_the_trainer_wrote(run: Path, recordings: Recordings) -> None:
    """Right, or a known miss that accuses no innocent worker."""
    truth, found = expected(run), recordings.document(run)
    right = found["cause"] in {truth["cause"], *truth.get("accept", [])}
    right = right and found["culprits"] == truth["culprits"]
    assert right != (run.name in MISSES), {key: found[key] for key in ("cause", "culprits", "suspects")}
    assert set(found["culprits"]) <= set(truth["culprits"])


@each_run
def test_a_run_is_what_the_recorder_left(run: Path) -> None:
    """Nothing but recordings, whose events keep the schema; no path of the machine that made them."""
    assert {path.name for path in run.iterdir()} == {"run", "expected.json", "origin.md"}
    assert (SCENARIOS / f"{run.name}.yaml").exists()
    files = [path for path in (run / "run").rglob("*") if path.is_file()]
    assert {path.parent.parent for path in files} == {run / "run"}
    strangers = PathAnonymizer({str(place): "" for place in (ROOT, Path.home(), JOB)})
    for path in files:
        assert strangers.check(path.read_bytes()) is None
    for path in [path for path in files if path.suffix == ".jsonl" and ".index" not in path.name]:
        for event in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            validator(event["event"]).validate(event)


@cache
def validator(event: str) -> jsonschema.Draft202012Validator:
    """Return the validator of an event."""
    place = {"$ref": f"#/$defs/events/{event}", "$defs": SCHEMA["$defs"]}
    return jsonschema.Draft202012Validator(place)
