"""Creates the files of a job before it starts: one folder per worker, as if each had its own machine."""

from __future__ import annotations

import json
import random
import shutil
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import google_crc32c

from analyzer.trainer.free_ports import free_ports
from analyzer.trainer.jobs.sandbox.hosts import Hosts

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.trainer.scenario import Scenario

    Install = Callable[[Path, Scenario], None]

PROGRAM = Path(__file__).parents[2] / "program"
WINDOW = 64
RUN = "run"
"""Directory with all that is handed over, in the shared one of tasks that a scheduler starts."""


@dataclass(frozen=True)
class Workspace:
    """The scratch directory of one job, and the addresses of its cluster."""

    root: Path
    scenario: Scenario
    addresses: tuple[str, ...]
    hosts: Hosts | None = None
    logs: Path | None = None
    """Directory of the logs while the job runs: `run` or one beside it; None for the scratch directory."""

    @classmethod
    def create(cls, root: Path, scenario: Scenario, install: Install | None = None) -> Workspace:
        """Create a folder with program and data for every worker; `install` fills the first one."""
        hosts = Hosts(scenario.workers, scenario.host_names) if scenario.hosts else None
        addresses = (
            hosts.addresses if hosts else tuple(f"127.0.0.1:{port}" for port in free_ports(scenario.workers))
        )
        workspace = cls(root, scenario, addresses, hosts)
        (root / "logs").mkdir()
        first = workspace.folder(0)
        (install or fill_reference)(first, scenario)
        for index in range(1, scenario.workers):
            shutil.copytree(first, workspace.folder(index))
        return workspace

    def folder(self, index: int) -> Path:
        """Return a worker's folder; recordings show it as `/workspace`."""
        return self.root / f"worker-{index}"

    def part_file(self, index: int) -> Path:
        """Return the path of the data file that a worker reads if the data is sharded."""
        return self.folder(index) / "data" / part_name(self.scenario, index)

    @property
    def recordings(self) -> Path | None:
        """Return where mwms-recorder writes; None for a scenario without it."""
        shared = self.logs.parent / RUN if self.logs else self.root / "recordings"
        return shared if self.scenario.recorder else None

    def log(self, index: int, stream: str) -> Path:
        """Return the log path of a worker's stream, `out` or `err`; only layout `folders` separates them."""
        if self.logs:
            return self.logs / f"{self.name(index)}.log"
        name = f"{index}.{stream}" if self.scenario.layout == "folders" else f"{index}.log"
        return self.root / "logs" / name

    def name(self, index: int) -> str:
        """Return a worker's name as used in file names: `worker-1`."""
        return self.scenario.task(index).replace(":", "-")

    def tf_config(self, index: int) -> str:
        """Return a worker's TF_CONFIG as a launcher would write it."""
        cluster: dict[str, list[str]] = {}
        for task, address in enumerate(self.addresses):
            cluster.setdefault(self.scenario.task(task).split(":")[0], []).append(address)
        kind, number = self.scenario.task(index).split(":")
        return json.dumps({"cluster": cluster, "task": {"type": kind, "index": int(number)}})


def part_name(scenario: Scenario, part: int) -> str:
    """Return the file name of a part of the data: `part-00001.csv`."""
    return f"part-{part:05d}.{scenario.format}"


def fill_reference(folder: Path, scenario: Scenario) -> None:
    """Write the trainer's own program and its generated data into a worker's folder."""
    for name in ("data", "config", "statistics"):
        (folder / name).mkdir(parents=True)
    for name in ("train.py", "windowing.py"):
        shutil.copyfile(PROGRAM / name, folder / name)
    shutil.copytree(PROGRAM / "forecast", folder / "forecast", ignore=shutil.ignore_patterns("__pycache__"))
    total = scenario.epochs * scenario.steps
    schedule = "".join(f"{step},{0.02 if step > 5 else 0.004 * step:.4f}\n" for step in range(1, total + 1))
    (folder / "config/schedule.csv").write_text(schedule)
    (folder / "statistics/statistics.json").write_text('{"mean": 0.0, "scale": 1.0}\n')
    names = [part_name(scenario, part) for part in range(scenario.parts or scenario.workers)]
    (folder / "config/files.txt").write_text("".join(f"{name}\n" for name in names))
    for part, name in enumerate(names):
        # two batches more than the steps need: the pipeline reads ahead
        rows = _rows(seed=part, count=(total + 2) * scenario.batch_size)
        content = "".join(rows).encode() if scenario.format == "csv" else tfrecords(rows)
        (folder / "data" / name).write_bytes(content)


def tfrecords(rows: list[str]) -> bytes:
    """Encode rows as TFRecords of 32-bit floats."""
    return b"".join(map(_tfrecord, rows))


def _tfrecord(row: str) -> bytes:
    cells = [float(cell) for cell in row.split(",")]
    payload = struct.pack(f"<{len(cells)}f", *cells)
    length = struct.pack("<Q", len(payload))
    return length + _masked_crc(length) + payload + _masked_crc(payload)


def _masked_crc(content: bytes) -> bytes:
    crc = google_crc32c.value(content)
    return struct.pack("<I", (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF)


def _rows(seed: int, count: int) -> list[str]:
    """Return CSV rows: a window of noise, and a load that follows the noise's amplitude."""
    draw = random.Random(seed)  # noqa: S311 - data to train on, the same each time
    rows = []
    for _ in range(count):
        strength = draw.uniform(0.2, 2.0)
        window = ",".join(f"{draw.gauss(0.0, strength):.2f}" for _ in range(WINDOW))
        rows.append(f"{window},{strength + draw.gauss(0.0, 0.3):.3f}\n")
    return rows
