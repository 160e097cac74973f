"""Which life of its worker everything belongs to: real restarts, laid out in every way."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

from analyzer.discover import discover
from analyzer.ingest.logs.progress.layouts import is_progress
from analyzer.model.run import Tables
from analyzer.pipeline import load_tables
from tests.recordings import ROOT
from tests.rules import our_rules

pytestmark = pytest.mark.recordings

RUNS = {
    "restarted-alone": {"mnist-worker-2": 46},
    "healthy-recovers-tf215": {"worker-0": 65, "worker-1": 17},
}
"""Recordings with a restart: whose log holds two lives, and the lines of the first one."""

SAID = ("TensorFlow ", "replicas in sync", "done", "saved")
Lay = Callable[[Path, list[str], int], None]


def laid(name: str, target: Path, lay: Lay) -> Path:
    """A recording, the logs with two lives laid out anew."""
    for path in (ROOT / "sample_runs" / name / "run").iterdir():
        first = RUNS[name].get(path.stem)
        if first is None or path.suffix != ".log":
            (target / path.name).write_bytes(path.read_bytes())
        else:
            lay(target / path.stem, path.read_text(encoding="utf-8").splitlines(keepends=True), first)
    return target


def tables(run: Path) -> Tables:
    """All tables of a run."""
    return load_tables(discover([run]), our_rules())


def lives(found: Tables) -> dict[str, tuple[object, ...]]:
    """Worker → what is known of its lives."""
    return {
        row["worker"]: (row["attempts"], row["restarted"], row["ended"], row["epoch"], row["step"])
        for row in found["lifetimes"].iter_rows(named=True)
    }


def write(path: Path, lines: list[str]) -> None:
    """A log of some lines, in a directory that is there."""
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(lines), encoding="utf-8")


def as_it_was(path: Path, lines: list[str], _first: int) -> None:
    """One file, appended to."""
    write(path.with_suffix(".log"), lines)


def streams(path: Path, lines: list[str], _first: int) -> None:
    """What a script prints on stdout, which is undated, and all else on stderr; both appended to."""
    told = [is_progress(line.rstrip("\n")) or line.startswith(SAID) for line in lines]
    for name, wanted in (("stdout.txt", True), ("stderr.txt", False)):
        write(path / name, [line for line, own in zip(lines, told, strict=True) if own is wanted])


def bare_streams(path: Path, lines: list[str], first: int) -> None:
    """The same of a script that prints nothing but its progress."""
    streams(path, [line for line in lines if not line.startswith(SAID)], first)


def previous(path: Path, lines: list[str], first: int) -> None:
    """As `kubectl logs --previous` gives it."""
    write(path.with_name(f"{path.name}-previous.log"), lines[:first])
    write(path.with_suffix(".log"), lines[first:])


def attempt(path: Path, lines: list[str], first: int) -> None:
    """As the recipe for Kubernetes names it."""
    write(path.with_name(f"{path.name}-attempt-1.log"), lines[:first])
    write(path.with_suffix(".log"), lines[first:])


def rotated(path: Path, lines: list[str], first: int) -> None:
    """The first life and a little of the second were moved away."""
    write(path.with_name(f"{path.name}.log.1"), lines[: first + 2])
    write(path.with_suffix(".log"), lines[first + 2 :])


@pytest.mark.parametrize("lay", [streams, previous, attempt, rotated])
@pytest.mark.parametrize("name", RUNS)
def test_a_restart_is_the_same_however_it_was_kept(name: str, lay: Lay, tmp_path: Path) -> None:
    """Lives are counted alike, and each has its own progress."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    as_recorded, anew = (
        tables(laid(name, tmp_path / where, how)) for where, how in (("a", as_it_was), ("b", lay))
    )
    assert lives(anew) == lives(as_recorded)
    assert {row[0] for row in lives(anew).values()} >= {2}
    assert steps(anew) == steps(as_recorded)


def test_progress_that_begins_again_shows_the_restart(tmp_path: Path) -> None:
    """Where it alone is on stdout; where it does not begin again, it is said that nothing tells."""
    for name, told in (("healthy-recovers-tf215", []), ("restarted-alone", ["mnist-worker-2/stdout.txt"])):
        (tmp_path / name).mkdir()
        as_recorded = tables(ROOT / "sample_runs" / name / "run")
        anew = tables(laid(name, tmp_path / name, bare_streams))
        assert anew["damage"]["source"].to_list() == told
        assert told or steps(anew) == steps(as_recorded)


def steps(found: Tables) -> set[tuple[object, ...]]:
    """In which life each place of training was reached."""
    return set(found["scalars"].select("worker", "attempt", "epoch", "step").unique().iter_rows())


def requeued() -> Iterator[str]:
    """One file of a Slurm job that was requeued between the lives of its tasks."""
    logs = {
        path.stem[-1]: path.read_text(encoding="utf-8").splitlines()
        for path in sorted((ROOT / "sample_runs/healthy-recovers-tf215/run").glob("*.log"))
    }
    cuts = {name[-1]: first for name, first in RUNS["healthy-recovers-tf215"].items()}
    yield from (f"{task}: {line}" for task, log in logs.items() for line in log[: cuts[task]])
    yield "slurmstepd: error: *** JOB 48213 ON node-1 CANCELLED AT 2026-11-21T06:00:00 DUE TO JOB REQUEUE ***"
    yield from (f"{task}: {line}" for task, log in logs.items() for line in log[cuts[task] :])


def test_a_job_that_slurm_requeued_has_a_second_life(tmp_path: Path) -> None:
    """Of all its tasks, though the word of it stands but once in the file."""
    (tmp_path / "slurm-48213.out").write_text("\n".join(requeued()) + "\n", encoding="utf-8")
    (tmp_path / "exit_codes.txt").write_text("worker-0 0\nworker-1 0\n", encoding="utf-8")
    as_recorded = tables(ROOT / "sample_runs" / "healthy-recovers-tf215" / "run")
    assert {worker: life[:3] for worker, life in lives(tables(tmp_path)).items()} == {
        worker: life[:3] for worker, life in lives(as_recorded).items()
    }


def test_a_second_life_that_dies_before_its_server_is_one(tmp_path: Path) -> None:
    """Where Slurm says that it began."""
    lines = list(requeued())
    cut = next(n for n, line in enumerate(lines) if "REQUEUE" in line)
    end = "0: Traceback (most recent call last):\n0:   File \"train.py\"\n0: KeyError: 'x'\n1: step 1 loss 0.5\n"
    (tmp_path / "slurm-1.out").write_text("\n".join(lines[: cut + 1]) + "\n" + end, encoding="utf-8")
    found = lives(tables(tmp_path))
    assert found["worker:0"][:3] == (2, True, "exception")


def test_kubernetes_counts_the_restarts(tmp_path: Path) -> None:
    """Where only the log of the last life was collected."""
    run = ROOT / "sample_runs" / "restarted-alone" / "run"
    lines = (run / "mnist-worker-2.log").read_text(encoding="utf-8").splitlines(keepends=True)
    write(tmp_path / "mnist-worker-2.log", lines[46:])
    pod = {"metadata": {"name": "mnist-worker-2"}, "status": {"containerStatuses": [{"restartCount": 1}]}}
    (tmp_path / "pods.json").write_text(json.dumps({"items": [pod]}, indent=4), encoding="utf-8")
    assert lives(tables(tmp_path))["worker:2"][:2] == (2, True)


@pytest.mark.parametrize(("first", "attempts"), [("10:00:01", 1), ("09:50:01", 2)])
def test_a_previous_log_that_is_the_same_again_is_of_one_attempt(
    first: str, attempts: int, tmp_path: Path
) -> None:
    """`kubectl logs` gives it twice while a container waits for its next start."""
    for name, begun in (("worker-1-previous.log", first), ("worker-1.log", "10:00:01")):
        write(tmp_path / name, [f"2026-11-20 {begun} INFO step 1 loss 0.5\n", "KeyError: 'label'\n"])
    assert lives(tables(tmp_path))["worker:1"][:2] == (attempts, attempts > 1)


def test_where_nothing_tells_it_is_said(tmp_path: Path) -> None:
    """Undated words that a life may or may not say."""
    log = ROOT / "sample_runs" / "restarted-alone" / "run" / "mnist-worker-2.log"
    (tmp_path / "worker-2").mkdir()
    (tmp_path / "worker-2" / "stderr.txt").write_bytes(log.read_bytes())
    (tmp_path / "worker-2" / "stdout.txt").write_text("step 1 loss 0.5\nstep 2 loss 0.4\n", encoding="utf-8")
    found = tables(tmp_path)
    (what,) = found["damage"]["what"].to_list()
    assert what.startswith("holds 2 attempts of worker:2, and nothing in it shows where one ends")
    own = found["scalars"].filter(found["scalars"]["source"] == "worker-2/stdout.txt")
    assert set(own["attempt"]) == {2}


def test_a_file_that_says_nothing_has_no_lives_to_tell_apart(tmp_path: Path) -> None:
    """One that could not be opened stays skipped, and of an empty one nothing is lost."""
    log = ROOT / "sample_runs" / "restarted-alone" / "run" / "mnist-worker-2.log"
    (tmp_path / "worker-2").mkdir()
    (tmp_path / "worker-2" / "stderr.txt").write_bytes(log.read_bytes())
    (tmp_path / "worker-2" / "stdout.txt").touch()
    (tmp_path / "worker-2" / "more.log").symlink_to("more.log")
    found = tables(tmp_path)
    assert found["damage"].is_empty()
    assert dict(found["sources"].select("source", "read").rows()) == {
        "worker-2/more.log": "skipped",
        "worker-2/stderr.txt": "complete",
        "worker-2/stdout.txt": "complete",
    }


@pytest.mark.parametrize("pid", [None, "1"])
def test_event_files_are_of_the_lives_that_the_logs_show(pid: str | None, tmp_path: Path) -> None:
    """By the process that wrote them; in containers, where each life is process 1, by when they were begun."""
    run = tmp_path / "run"
    shutil.copytree(ROOT / "sample_runs" / "healthy-goes-on-tf211" / "run", run)
    if pid:
        for path in list(run.rglob("*tfevents*")):
            path.rename(path.with_name(re.sub(r"\.\d+\.0\.v2$", f".{pid}.0.v2", path.name)))
    found = tables(run)["scalars"].filter((pl.col("origin") == "event_file") & (pl.col("tag") == "loss"))
    told = found.group_by("worker", "attempt").agg(pl.col("step").min()).sort("worker", "attempt")
    assert told.rows() == [("worker:0", 1, 1), ("worker:0", 2, 31), ("worker:1", 1, 1), ("worker:1", 2, 31)]


def test_a_clock_of_another_zone_parts_no_event_files(tmp_path: Path) -> None:
    """Where all of them would be of one life, nothing is told."""
    run = tmp_path / "run"
    shutil.copytree(ROOT / "sample_runs" / "healthy-goes-on-tf211" / "run", run)
    for path in list(run.rglob("*tfevents*")):
        later = re.sub(r"\.(\d+)\.vm\.\d+", lambda m: f".{int(m[1]) + 7200}.vm.1", path.name)
        path.rename(path.with_name(later))
    found = tables(run)["scalars"].filter(pl.col("origin") == "event_file")
    assert found["attempt"].unique().to_list() == [1]
