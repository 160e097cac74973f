"""A run is the same run however it was handed over: each recording, laid out anew, gives the same diagnosis."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from analyzer.pipeline import analyze
from tests.conftest import ROOT

RUNS = [
    ROOT / "sample_runs" / name / "run"
    for name in ("worker-killed", "worker-exception", "worker-never-joined", "healthy-fit")
]
PACK: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.compress,
}

Lay = Callable[[Path, Path], Path]


def told(path: Path) -> dict[str, Any]:
    """What a diagnosis says of who and why."""
    document = analyze([path]).document
    return {key: document[key] for key in ("verdict", "cause", "culprits", "suspects")}


def others(run: Path, target: Path) -> None:
    """Copy what is no log."""
    for path in run.rglob("*"):
        if path.is_file() and path.suffix != ".log":
            copy = target / path.relative_to(run)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())


def each_log(name: Callable[[int], str], pack: Callable[[bytes], bytes] = bytes) -> Lay:
    """A layout with one file a worker."""

    def lay(run: Path, target: Path) -> Path:
        others(run, target)
        for path in run.glob("worker-*.log"):
            copy = target / name(int(path.stem.removeprefix("worker-")))
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(pack(path.read_bytes()))
        return target

    return lay


def interleaved(mark: Callable[[int, str], str]) -> Lay:
    """A layout with one file for all, lines in turn, each marked with whose it is."""

    def lay(run: Path, target: Path) -> Path:
        others(run, target)
        logs = [path.read_text(encoding="utf-8").split("\n") for path in sorted(run.glob("worker-*.log"))]
        longest = max(map(len, logs))
        turns = [mark(i, log[n]) for n in range(longest) for i, log in enumerate(logs) if n < len(log)]
        (target / "job.log").write_text("\n".join(turns) + "\n", encoding="utf-8")
        return target

    return lay


def rotated(run: Path, target: Path) -> Path:
    """Each log in three parts, the oldest with the highest number and packed."""
    others(run, target)
    for path in run.glob("worker-*.log"):
        lines = path.read_bytes().splitlines(keepends=True)
        third = len(lines) // 3
        (target / f"{path.name}.2.gz").write_bytes(gzip.compress(b"".join(lines[:third])))
        (target / f"{path.name}.1").write_bytes(b"".join(lines[third : third + 3]))
        (target / path.name).write_bytes(b"".join(lines[third + 3 :]))
    return target


def archived(mode: str) -> Lay:
    """The whole run as one archive."""

    def lay(run: Path, target: Path) -> Path:
        archive = target / f"run.{mode}"
        if mode == "zip":
            with zipfile.ZipFile(archive, "w") as packed:
                for path in run.rglob("*"):
                    packed.write(path, f"job/{path.relative_to(run)}")
        else:
            buffer = io.BytesIO()
            with tarfile.open(fileobj=buffer, mode="w") as tar:
                tar.add(run, "job")
            archive.write_bytes(PACK.get(mode.removeprefix("tar."), bytes)(buffer.getvalue()))
        return archive

    return lay


def json_line(index: int, line: str) -> str:
    """As a log service exports it."""
    return json.dumps({"message": line, "resource": {"labels": {"pod_name": f"job-worker-{index}"}}})


LAYOUTS: dict[str, Lay] = {
    "rank0.out": each_log(lambda i: f"rank{i}.out"),
    "worker_1/stdout.txt": each_log(lambda i: f"worker_{i}/stdout.txt"),
    "deep directories": each_log(lambda i: f"a/b/logs/worker-{i}/attempt/output.log"),
    "Kubeflow pods": each_log(lambda i: f"mnist-worker-{i}.log"),
    **{
        f"worker-0.log.{name}": each_log(("worker-{}.log." + name).format, pack)
        for name, pack in PACK.items()
    },
    "CRI": each_log(
        lambda i: f"worker-{i}.log",
        lambda data: b"\n".join(
            b"2026-11-21T01:35:58.252546967Z stdout F " + line for line in data.split(b"\n")[:-1]
        ),
    ),
    "CRI, long lines in parts": each_log(
        lambda i: f"worker-{i}.log",
        lambda data: b"\n".join(
            b"2026-11-21T01:35:58.252546967Z stdout P "
            + line[:40]
            + b"\n2026-11-21T01:35:58.252546968Z stdout F "
            + line[40:]
            for line in data.split(b"\n")[:-1]
        ),
    ),
    "docker json-file": each_log(
        lambda i: f"worker-{i}.log",
        lambda data: b"\n".join(
            json.dumps({"log": line.decode() + "\n", "stream": "stderr", "time": "x"}).encode()
            for line in data.split(b"\n")[:-1]
        ),
    ),
    "srun -l": interleaved(lambda i, line: f"{i}: {line}"),
    "mpirun --tag-output": interleaved(lambda i, line: f"[1,{i}]<stderr>:{line}"),
    "docker compose": interleaved(lambda i, line: f"trainer-worker-{i}  | {line}"),
    "kubectl logs --prefix": interleaved(lambda i, line: f"[pod/job-worker-{i}/tensorflow] {line}"),
    "torchrun": interleaved(lambda i, line: f"[worker{i}]:{line}"),
    "Cloud Logging": interleaved(json_line),
    "rotated": rotated,
    **{mode: archived(mode) for mode in ("zip", "tar", "tar.gz", "tar.xz", "tar.zst")},
}


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.parent.name)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_same_run_gives_the_same_diagnosis(layout: str, run: Path, tmp_path: Path) -> None:
    """Whatever the scheduler and the collector made of it."""
    assert told(LAYOUTS[layout](run, tmp_path)) == told(run)


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
