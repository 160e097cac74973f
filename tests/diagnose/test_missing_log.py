"""A worker that died or froze is found without its log: its peers and its exit code tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.pipeline import analyze
from tests.recordings import KNOWN_MISSES, SAMPLE_RUNS, Recordings, expected, sample_run_named
from tests.relaid import belongs_to, without_end, without_log

DEATHS = ("peer.", "resource.host_oom", "hang.worker_frozen", "network.partition")


def fallen(sample: Path) -> bool:
    """Whether one worker of a run died, froze or was cut off, and has a log of its own."""
    truth = expected(sample)
    logs = [path for path in (sample / "run").rglob("*") if path.is_file()]
    return (
        truth["cause"].startswith(DEATHS)
        and sample.name not in KNOWN_MISSES
        and len(truth["culprits"]) == 1
        and (
            any(belongs_to(path.relative_to(sample), truth["culprits"][0]) for path in logs)
            or any(path.name.startswith("slurm-") for path in logs)
        )
    )


@pytest.mark.parametrize(
    "sample", [sample for sample in SAMPLE_RUNS if fallen(sample)], ids=lambda sample: sample.name
)
def test_the_culprit_is_named_without_its_log(sample: Path, tmp_path: Path) -> None:
    """The cause may be told less exactly; the worker is the same, and no other one is blamed.

    One cut off from the network ends with an exit code of 1, as its victims do: it is the suspect.
    """
    truth = expected(sample)
    run = without_log(sample / "run", tmp_path / "run", truth["culprits"][0])
    document = analyze([run]).document
    cut_off = truth["cause"] == "network.partition"
    assert document["verdict"] == "failed"
    assert (document["culprits"], document["suspects"]) in [
        (truth["culprits"], []),
        *([([], truth["culprits"])] if cut_off else []),
    ]


@pytest.mark.parametrize("sample", SAMPLE_RUNS[::6], ids=lambda sample: sample.name)
def test_no_innocent_is_blamed_for_want_of_a_log(
    sample: Path, tmp_path: Path, recordings: Recordings
) -> None:
    """Whichever log somebody forgot, the leader's or a witness's, or of whose log the end is missing."""
    guilty = {*expected(sample)["culprits"], *recordings.document(sample)["culprits"]}
    changed = {f"end-{who}": without_end(sample / "run", tmp_path / f"end-{who}", who) for who in guilty}
    for worker in {"worker:0", "worker:1"} - guilty:
        changed[worker] = without_log(sample / "run", tmp_path / worker, worker)
    blamed = {
        name: analyze([run]).document["culprits"] for name, run in changed.items() if any(run.rglob("*.*"))
    }
    assert {name: who for name, who in blamed.items() if not guilty.issuperset(who)} == {}


def test_there_are_enough_of_them() -> None:
    """Killed, crashed, frozen, preempted, out of memory, cut off, gone early."""
    found = [expected(sample)["cause"] for sample in SAMPLE_RUNS if fallen(sample)]
    assert len(found) >= 20
    assert len(set(found)) >= 8


@pytest.mark.recordings
@pytest.mark.parametrize("name", ["catalogue-forbidden-tf218", "steps-not-given-tf28"])
def test_nobody_is_blamed_for_what_all_do_when_a_log_is_missing(name: str, tmp_path: Path) -> None:
    """Of three workers that all raised, two are here: they are alike."""
    sample = sample_run_named(name)
    document = analyze([without_log(sample / "run", tmp_path / "run", "worker:1")]).document
    assert document["verdict"] == "failed"
    assert document["culprits"] == []
