"""Time a small run, from the command line to the written report, and the imports that others wait for.

Prints medians and spreads over several rounds; every round runs all commands once, in turn. The ratio of the
fastest runs is the steadier one: what else the machine does can only slow a command down.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RUN = ROOT / "sample_runs" / "worker-killed" / "run"
ROUNDS = 7


def seconds(command: list[str]) -> float:
    """Wall time of one command."""
    start = time.perf_counter()
    subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - our own commands
    return time.perf_counter() - start


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        commands = {
            "mwms-analyze": [sys.executable, "-m", "analyzer", str(RUN), "-o", f"{folder}/report.html"],
            "import polars": [sys.executable, "-c", "import polars"],
            "import tensorflow": [sys.executable, "-c", "import tensorflow"],
        }
        for command in commands.values():
            seconds(command)
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(ROUNDS):
            for name, command in commands.items():
                times[name].append(seconds(command))
    ours = times["mwms-analyze"]
    for name, measured in times.items():
        middle = statistics.median(measured)
        spread = f"{min(measured):.2f} to {max(measured):.2f}"
        ratios = f"{statistics.median(ours) / middle:.2f}, of the fastest {min(ours) / min(measured):.2f}"
        print(f"{name:20} {middle:6.2f} s  ({spread})  ratio {ratios}")  # noqa: T201


if __name__ == "__main__":
    main()
