"""The layouts in which schedulers and collectors hand over a run, made of a recorded one."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import zstandard

from analyzer.ingest.logs.prefixes.heads import head
from analyzer.ingest.logs.progress.layouts import is_progress
from tests.ingest.exported import (
    Lay,
    at,
    bulk,
    cloud_logging,
    cloud_watch,
    exported,
    fluent_bit,
    json_line,
    json_lines,
    new_relic,
    open_telemetry,
    others,
)

PACK: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.compress,
}


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


def interleaved(mark: Callable[[int, str], str], prepare: Callable[[list[str]], Iterable[str]] = list) -> Lay:
    """A layout with one file for all, lines in turn, each marked with whose it is."""

    def lay(run: Path, target: Path) -> Path:
        others(run, target)
        paths = sorted(run.glob("worker-*.log"))
        logs = [list(prepare(path.read_text(encoding="utf-8").split("\n"))) for path in paths]
        longest = max(map(len, logs))
        turns = [mark(i, log[n]) for n in range(longest) for i, log in enumerate(logs) if n < len(log)]
        (target / "job.log").write_text("\n".join(turns) + "\n", encoding="utf-8")
        return target

    return lay


def two_streams(run: Path, target: Path) -> Path:
    """A directory a worker; what it tells of its progress on stdout, all else on stderr."""
    others(run, target)
    for path in run.glob("worker-*.log"):
        folder = target / path.stem.replace("-", "_")
        folder.mkdir()
        parts = path.read_text(encoding="utf-8").splitlines(keepends=True)
        for name, wanted in (("stdout.txt", True), ("stderr.txt", False)):
            own = [line for line in parts if is_progress(line.rstrip("\n")) is wanted]
            (folder / name).write_text("".join(own), encoding="utf-8")
    return target


def rotated(run: Path, target: Path) -> Path:
    """Each log in six parts, the oldest with the highest number; all but the newest two packed.

    No record is cut: parts are read one by one, and half a traceback tells half of it.
    """
    others(run, target)
    for path in run.glob("worker-*.log"):
        lines = path.read_bytes().splitlines(keepends=True)
        begin = [n for n, line in enumerate(lines) if head(line.decode().rstrip(), 2026)]
        ends = [
            min([n for n in begin if n >= len(lines) * part // 6], default=len(lines)) for part in range(1, 6)
        ]
        parts = [b"".join(lines[a:b]) for a, b in pairwise([0, *ends, len(lines)])]
        for name, part in zip((".5.bz2", ".4.xz", ".3.zst", ".2.gz", ".1", ""), parts, strict=True):
            pack = PACK.get(name.rpartition(".")[2], bytes)
            (target / f"{path.name}{name}").write_bytes(pack(part))
    return target


def packed_apart(run: Path, target: Path) -> Path:
    """An archive a worker, and in each the same names."""
    others(run, target)
    for path in run.glob("worker-*.log"):
        with tarfile.open(target / f"{path.stem}.tar.gz", mode="w:gz") as tar:
            tar.add(path, "var/log/output.log")
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


def timed(lines: Iterable[str]) -> Iterator[str]:
    """Each line with the time at which it was printed, as far as those around it tell."""
    found = [(head(line, 2026), line) for line in lines]
    now = next((h.time for h, _ in found if h and h.time), 0.0)
    for own, line in found:
        now = max(now + 1e-6, own.time if own and own.time else 0.0)
        stamp = datetime.fromtimestamp(now, UTC)
        yield f"{stamp:%Y-%m-%dT%H:%M:%S.%f}789Z {line}"


def stamped(data: bytes) -> bytes:
    """As `kubectl logs --timestamps` gives a pod's log."""
    return "".join(f"{line}\n" for line in timed(data.decode().split("\n")[:-1])).encode()


def docker_json(data: bytes, longest: int = 60) -> bytes:
    """As docker keeps it: entries of no more than so many characters, here fewer than its 16 KB."""
    made = []
    for n, line in enumerate(data.decode().split("\n")[:-1]):
        whole = line + "\n"
        for start in range(0, len(whole), longest):
            part = whole[start : start + longest]
            made.append(json.dumps({"log": part, "stream": "stderr", "time": at(n)}) + "\n")
    return "".join(made).encode()


def in_sections(heading: Callable[[int], str], prepare: Callable[[list[str]], Iterable[str]] = list) -> Lay:
    """A layout with one file for all, the log of each worker below a heading."""

    def lay(run: Path, target: Path) -> Path:
        others(run, target)
        logs = [
            path.read_text(encoding="utf-8").rstrip("\n").split("\n")
            for path in sorted(run.glob("worker-*.log"))
        ]
        parts = ["\n".join([heading(i), *prepare(log)]) for i, log in enumerate(logs)]
        (target / "all.txt").write_text("\n".join(parts) + "\n", encoding="utf-8")
        return target

    return lay


def nomad(run: Path, target: Path) -> Path:
    """An allocation a worker; its output in two parts, of which the newer has the higher number."""
    others(run, target)
    for path in run.glob("worker-*.log"):
        lines = path.read_bytes().splitlines(keepends=True)
        begin = [n for n, line in enumerate(lines) if head(line.decode().rstrip(), 2026)]
        middle = next((n for n in begin if n >= len(lines) // 2), len(lines))
        folder = target / f"7f3{path.stem[-1]}ab/alloc/logs"
        folder.mkdir(parents=True)
        for part, own in enumerate((lines[:middle], lines[middle:])):
            (folder / f"train.stderr.{part}").write_bytes(b"".join(own))
    return target


def logfmt(index: int, line: str) -> str:
    """As an agent prints what it collected."""
    return f'time="2026-11-21T01:35:58Z" level=error pod=job-worker-{index} msg={json.dumps(line)} seq=7'


LAYOUTS: dict[str, Lay] = {
    "worker_1/stdout.txt and stderr.txt": two_streams,
    "an archive a worker": packed_apart,
    "Vertex AI": each_log(lambda i: f"workerpool1-{i}.log"),
    "SageMaker": each_log(lambda i: f"algo-{i + 1}.log"),
    "numbered from 1": each_log(lambda i: f"trainer-{i + 1}.log"),
    "kubectl logs --timestamps": each_log(lambda i: f"job-worker-{i}.log", stamped),
    "docker json-file, long lines in parts": each_log(lambda i: f"worker-{i}.log", docker_json),
    "docker compose, services of many": interleaved(lambda i, line: f"trainer-{i + 1}  | {line}"),
    "docker compose --timestamps": interleaved(lambda i, line: f"worker-{i}-1  | {line}", timed),
    "kubectl logs --prefix --timestamps": interleaved(
        lambda i, line: f"[pod/job-worker-{i}/tensorflow] {line}", timed
    ),
    "stern": interleaved(lambda i, line: f"job-worker-{i} tensorflow {line}"),
    "gcloud logging read": exported(cloud_logging, lambda all_: json.dumps(all_[::-1], indent=2)),
    "Cloud Logging, oldest first": exported(cloud_logging, json.dumps),
    "Cloud Logging, newest first, an entry a line": exported(cloud_logging, lambda e: json_lines(e[::-1])),
    "aws logs filter-log-events": exported(
        cloud_watch, lambda events: json.dumps({"events": events, "searchedLogStreams": []}, indent=4)
    ),
    "CloudWatch, an event a line": exported(cloud_watch, json_lines),
    "Fluent Bit": exported(fluent_bit, json_lines),
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
    "a prefix that no style knows": interleaved(lambda i, line: f"ml/job-worker-{i}[main]~> {line}"),
    "torchx": interleaved(lambda i, line: f"trainer/{i} {line}"),
    "PRRTE": interleaved(lambda i, line: f"[prterun-head-4471@1,{i}]<stderr>: {line}"),
    "an agent's logfmt": interleaved(logfmt),
    "Docker Swarm": interleaved(lambda i, line: f"train.{i + 1}.x{i}f3a@host-worker-{i}    | {line}"),
    "grep -rn": interleaved(lambda i, line: f"logs/worker-{i}.log:7:{line}"),
    "OpenTelemetry": exported(open_telemetry, json_lines),
    "New Relic": exported(new_relic, lambda entries: json.dumps(entries[::-1])),
    "Elasticsearch's bulk interface": exported(new_relic, bulk),
    "dshbak -c": in_sections(lambda i: f"----------------\nworker-{i}\n----------------"),
    "kubectl logs --timestamps, pasted": in_sections(
        lambda i: f"$ kubectl logs --timestamps job-worker-{i}", timed
    ),
    "YARN": in_sections(
        lambda i: f"Container: container_e1_17_0042_01_00000{i + 2} on worker-{i}_45454\nLogType:stderr"
    ),
    "Azure ML": each_log(lambda i: f"azureml-logs/70_driver_log_{i}.txt"),
    "Nomad": nomad,
    "rotated": rotated,
    **{mode: archived(mode) for mode in ("zip", "tar", "tar.gz", "tar.bz2", "tar.xz", "tar.zst")},
}


CHIEFS: dict[str, tuple[str, str]] = {
    "logs/chief": ("logs/chief/output.log", "logs/worker-{}/output.log"),
    "TFJob": ("job-chief-0.log", "job-worker-{}.log"),
    "TFJob of old": ("job-master-0.log", "job-worker-{}.log"),
    "Vertex AI": ("workerpool0-0.log", "workerpool1-{}.log"),
}
