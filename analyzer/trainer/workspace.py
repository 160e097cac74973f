"""What lies ready before a job starts: one folder a worker, as if each had a machine of its own."""

from __future__ import annotations

import json
import random
import shutil
import socket
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analyzer.trainer.scenario import Scenario

PROGRAM = Path(__file__).parent / "program" / "train.py"
WINDOW = 64


@dataclass(frozen=True)
class Workspace:
    """The scratch folder of one job, and the addresses of its cluster."""

    root: Path
    scenario: Scenario
    addresses: tuple[str, ...]

    @classmethod
    def create(cls, root: Path, scenario: Scenario) -> Workspace:
        """Fill the folder of every worker."""
        workspace = cls(root, scenario, free_addresses(scenario.workers))
        (root / "logs").mkdir()
        first = workspace.folder(0)
        _fill(first, scenario)
        for index in range(1, scenario.workers):
            shutil.copytree(first, workspace.folder(index))
        return workspace

    def folder(self, index: int) -> Path:
        """Where a worker runs: to itself this is `/workspace`."""
        return self.root / f"worker-{index}"

    def part_file(self, index: int) -> Path:
        """Return the one data file that a worker reads when the data are sharded."""
        return self.folder(index) / f"data/part-{index:05d}.csv"

    def log(self, index: int, stream: str) -> Path:
        """Where a worker's output goes; both streams go to one file in the flat layout."""
        name = f"{index}.{stream}" if self.scenario.layout == "folders" else f"{index}.log"
        return self.root / "logs" / name

    def tf_config(self, index: int) -> str:
        """Return TF_CONFIG as a launcher writes it."""
        cluster = {"worker": list(self.addresses)}
        return json.dumps({"cluster": cluster, "task": {"type": "worker", "index": index}})


def free_addresses(count: int) -> tuple[str, ...]:
    """Find ports that are free now, all of them different."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return tuple(f"127.0.0.1:{one.getsockname()[1]}" for one in sockets)


def _fill(folder: Path, scenario: Scenario) -> None:
    for name in ("data", "config", "statistics"):
        (folder / name).mkdir(parents=True)
    shutil.copyfile(PROGRAM, folder / "train.py")
    total = scenario.epochs * scenario.steps
    schedule = "".join(f"{step},{0.02 if step > 5 else 0.004 * step:.4f}\n" for step in range(1, total + 1))
    (folder / "config/schedule.csv").write_text(schedule)
    (folder / "statistics/statistics.json").write_text('{"mean": 0.0, "scale": 1.0}\n')
    for part in range(scenario.workers):
        # two batches more than the steps need: the pipeline reads ahead
        rows = _rows(seed=part, count=(total + 2) * scenario.batch_size)
        (folder / f"data/part-{part:05d}.csv").write_text("".join(rows))


def _rows(seed: int, count: int) -> list[str]:
    """Windows of noise, with a load that grows with their strength."""
    draw = random.Random(seed)  # noqa: S311 - data to train on, the same each time
    rows = []
    for _ in range(count):
        strength = draw.uniform(0.2, 2.0)
        window = ",".join(f"{draw.gauss(0.0, strength):.2f}" for _ in range(WINDOW))
        rows.append(f"{window},{strength + draw.gauss(0.0, 0.3):.3f}\n")
    return rows
