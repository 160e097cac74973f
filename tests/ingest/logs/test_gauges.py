"""Readings of the machine that scripts print between their steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analyzer.ingest.logs.gauges import gauges
from analyzer.ingest.logs.progress.layouts import is_progress
from analyzer.model.run import Tables
from analyzer.pipeline import analyze
from tests.recordings import ROOT

TablesOf = Callable[[Mapping[str, str]], Tables]
MakeRun = Callable[[Mapping[str, str]], Path]
MIB, GIB = 1024.0**2, 1024.0**3


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("CPU utilization: 93.0%", {"cpu_percent": 93}),
        ("cpu%: 93.2", {"cpu_percent": 93.2}),
        ("GPU utilization: 40 %", {"gpu/utilization_percent": 40}),
        ("RSS: 1234 MB", {"rss_bytes": 1234 * MIB}),
        ("rss_mb=1159", {"rss_bytes": 1159 * MIB}),
        ('"memory_used_gib": 3.5', {"memory_used_bytes": 3.5 * GIB}),
        ("peak RSS 3.5 GB", {"rss_peak_bytes": 3.5 * GIB}),
        ("memory: 5.5 GiB / 16 GiB", {"memory_used_bytes": 5.5 * GIB, "memory_total_bytes": 16 * GIB}),
        ("mem 3.5/16.0 GB", {"memory_used_bytes": 3.5 * GIB, "memory_total_bytes": 16 * GIB}),
        ("mem used 91%", {"memory_used_percent": 91}),
        ("available memory: 12 GB", {"memory_available_bytes": 12 * GIB}),
        ("memory limit = 4G", {"memory_limit_bytes": 4 * GIB}),
        ("process memory 512 KiB", {"rss_bytes": 512 * 1024}),
        ("cpu usage = 93.1 %, ram usage = 45 %", {"cpu_percent": 93.1, "memory_used_percent": 45}),
        ('{"cpu_percent": 93.0, "rss": "3 GB"}', {"cpu_percent": 93, "rss_bytes": 3 * GIB}),
        ("[gpu 3] mem=3GiB util=97%", {"gpu3/memory_used_bytes": 3 * GIB, "gpu3/utilization_percent": 97}),
        ("GPU0: 12% RAM: 45%", {"gpu0/utilization_percent": 12, "memory_used_percent": 45}),
    ],
)
def test_a_reading_has_one_name_and_one_unit(text: str, told: Mapping[str, float]) -> None:
    """However it is printed; and it is no step of the training."""
    assert dict(gauges(text)) == told
    assert not is_progress(text)


@pytest.mark.parametrize(
    "text",
    [
        "step 12 loss 0.5",
        "memory growth 5%",
        "CPU 3: 45%",
        "cpu count: 8",
        "gpu_memory_fraction=90%",
        "mem: 3.5",
        "memory 5 buffers",
        "a gram 3GB and a program 5%",
        "memory: " + "9" * 400 + " GB",
        "mem " * 10_000,
    ],
)
def test_what_has_no_unit_or_another_name_is_none(text: str) -> None:
    """Nothing is guessed."""
    assert list(gauges(text)) == []


def test_readings_of_a_log(tables_of: TablesOf) -> None:
    """They stand among the scalars with line and time, and are no progress."""
    log = "step 1 loss 0.5\n2026-11-21 02:08:30,000 INFO monitor: RSS: 5 GB\nstep 2 loss 0.4\n"
    tables = tables_of({"worker-0.log": log})
    read = tables["scalars"].filter(tables["scalars"]["origin"] == "gauge")
    assert read.select("worker", "line", "time", "tag", "value").rows() == [
        ("worker:0", 2, 1795226910.0, "rss_bytes", 5 * GIB)
    ]
    assert tables["lifetimes"].select("step", "place").rows() == [(2, "step 2")]


def test_a_log_of_readings_is_no_workers(tables_of: TablesOf) -> None:
    """It lies beside those of workers, and shows nothing of a training."""
    monitor = "".join(f"CPU utilization: {n}.0%\nRSS: {n} GB\n" for n in range(50))
    tables = tables_of({"worker-0.log": "step 1 loss 0.5\n", "monitor.log": monitor})
    assert tables["workers"]["worker"].to_list() == ["worker:0"]


@pytest.mark.recordings
def test_readings_after_the_last_step_are_no_steps(make_run: MakeRun) -> None:
    """A monitor that runs on changes nothing in a diagnosis."""
    for name in ("worker-exception", "healthy-custom-loop"):
        run = ROOT / "sample_runs" / name / "run"
        files = {
            path.name: path.read_text() for path in run.glob("*") if path.suffix in {".log", ".txt", ".json"}
        }
        plain = analyze([make_run(files)]).document
        with_readings = {
            n: t + "CPU utilization: 93.0%\n" * 3 if n.endswith(".log") else t for n, t in files.items()
        }
        watched = analyze([make_run(with_readings)]).document
        for key in ("verdict", "cause", "culprits"):
            assert watched[key] == plain[key]
        assert [w["curves"] for w in watched["workers"]] == [w["curves"] for w in plain["workers"]]
