"""A run is the same run however it was handed over: each recording, laid out anew, gives the same diagnosis."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from analyzer.ingest.logs.prefixes.heads import head
from analyzer.pipeline import analyze
from tests.ingest.exported import others
from tests.ingest.layouts import CHIEFS, LAYOUTS, each_log
from tests.recordings import ROOT, Recordings, sample_run_named

pytestmark = pytest.mark.recordings

RUNS = [
    sample_run_named(name)
    for name in ("worker-killed", "worker-exception", "worker-never-joined", "healthy-fit")
]


def decided(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a diagnosis says of who and why."""
    return {key: document[key] for key in ("verdict", "cause", "culprits", "suspects")}


def told(path: Path) -> dict[str, Any]:
    """Return who and why of a run laid out anew."""
    return decided(analyze([path]).document)


@pytest.mark.parametrize("name", ["healthy-chief-tf28", "chief-never-started-tf218"])
@pytest.mark.parametrize("layout", CHIEFS)
def test_a_chief_is_known_by_any_name(layout: str, name: str, tmp_path: Path, recordings: Recordings) -> None:
    """Of a directory, of a pod, of a pool."""
    sample, (chief, worker) = sample_run_named(name), CHIEFS[layout]
    run = sample / "run"
    each_log(worker.format)(run, tmp_path)
    for path in run.glob("chief-*.log"):
        (tmp_path / chief).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / chief).write_bytes(path.read_bytes())
    assert told(tmp_path) == decided(recordings.document(sample))


@pytest.mark.parametrize("sample", RUNS, ids=lambda sample: sample.name)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_same_run_gives_the_same_diagnosis(
    layout: str, sample: Path, tmp_path: Path, recordings: Recordings
) -> None:
    """Whatever the scheduler and the collector made of it."""
    assert told(LAYOUTS[layout](sample / "run", tmp_path)) == decided(recordings.document(sample))


def unmarked(run: Path, target: Path) -> Path:
    """One file for all, in the order of time, and nothing says whose a line is."""
    others(run, target)
    lines: list[tuple[float, str, int, str]] = []
    for path in sorted(run.glob("*.log")):
        found = [(head(line, 2026), line) for line in path.read_text(encoding="utf-8").splitlines()]
        now = next((own.time for own, _ in found if own and own.time), 0.0)
        for number, (own, line) in enumerate(found):
            now = own.time if own and own.time else now
            lines.append((now, path.name, number, line))
    (target / "job.log").write_text("".join(f"{line[-1]}\n" for line in sorted(lines)), encoding="utf-8")
    return target


@pytest.mark.parametrize(
    ("name", "culprits"),
    [
        ("worker-killed", ["worker:2"]),
        ("leader-killed-tf218", ["worker:0"]),
        ("worker-exception", []),
        ("disk-full-tf215", []),
    ],
)
def test_a_file_of_all_without_marks_gives_the_cause(name: str, culprits: list[str], tmp_path: Path) -> None:
    """Who it was is said only where something else tells: an exit code, a peer, or the service it never joined."""
    run = ROOT / "sample_runs" / name / "run"
    found = told(unmarked(run, tmp_path))
    assert (found["cause"], found["verdict"]) == (told(run)["cause"], told(run)["verdict"])
    assert (found["culprits"], found["suspects"]) == (culprits, [])


def test_a_file_of_all_without_marks_cannot_say_why_one_never_came(tmp_path: Path) -> None:
    """Its lines may be those of all tasks or of the leader alone, so that only the parent cause is named."""
    job = unmarked(ROOT / "sample_runs" / "worker-never-joined" / "run", tmp_path)
    assert told(job)["verdict"] == "inconclusive"  # it may be starting
    (job / "exit_codes.txt").write_text("worker-0 None\nworker-1 None\n")
    found = told(job)
    assert (found["cause"], found["culprits"]) == ("hang.at_startup", ["worker:2"])


@pytest.mark.parametrize("name", ["healthy-fit", "nan-loss", "out-of-data-tf218"])
def test_a_file_of_all_without_marks_blames_no_innocent(name: str, tmp_path: Path) -> None:
    """Nor does it say that somebody never came, whose lines stand among the others'."""
    found = told(unmarked(ROOT / "sample_runs" / name / "run", tmp_path))
    assert (found["culprits"], found["suspects"]) == ([], [])
    assert name != "healthy-fit" or found["verdict"] == "inconclusive"


def test_an_archive_cannot_reach_out_of_its_scratch_directory(tmp_path: Path) -> None:
    """Names that lead out, links and devices are said and left out; the rest is read."""
    archive = tmp_path / "run.tar"
    with tarfile.open(archive, "w") as tar:
        for name, data in (
            ("../evil.log", b"x"),
            ("/etc/evil.log", b"x"),
            ("worker-0.log", b"step 1 loss 0.5\n"),
        ):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
        link = tarfile.TarInfo("link.log")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    sources = {source["name"]: source["reason"] for source in analyze([archive]).document["sources"]}
    assert sources["worker-0.log"] == ""
    assert all("leads out" in sources[name] for name in ("../evil.log", "/etc/evil.log"))
    assert "no regular file" in sources["link.log"]
    assert [path.name for path in tmp_path.rglob("*")] == ["run.tar"]


@pytest.mark.parametrize("name", ["run.tar", "run.zip", "run.tar.gz", "run.tar.zst", "worker-1.log.gz"])
def test_a_broken_archive_is_said_and_the_rest_is_read(name: str, tmp_path: Path) -> None:
    """Cut in the middle."""
    (tmp_path / name).write_bytes(b"\x1f\x8b\x08\x00PK\x03\x04 broken" * 40)
    (tmp_path / "worker-0.log").write_text("step 1 loss 0.5\n", encoding="utf-8")
    document = analyze([tmp_path]).document
    assert [s["read"] for s in document["sources"] if s["name"].startswith(name)] == ["skipped"]
    assert any(
        source["name"] == "worker-0.log" and source["read"] == "complete" for source in document["sources"]
    )
