"""Keeps what the driver, the kernel and NCCL say while a job runs on GPUs."""

from __future__ import annotations

import re
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from analyzer.trainer.gpus.nvidia_smi import ask
from analyzer.trainer.witness.evidence import FaultMissedError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from analyzer.trainer.scenario import Scenario

DMON = ("nvidia-smi", "dmon", "-s", "pucvmet", "-o", "DT", "-d", "1")
"""Power, utilization, clocks, violations, memory, ECC and PCIe throughput, with the time, every second."""
DMON_LOG = "dmon.txt"
DRIVER_WORDS = ("NVRM", "nvidia", "Xid")
SERIAL_NUMBER = re.compile(r"^(\s*Serial Number\s*: )\d+$", re.MULTILINE)


def nccl_variables(scenario: Scenario) -> Mapping[str, str]:
    """Return the variables that make NCCL log what it does, if the scenario hands over the GPUs' reports."""
    return {"NCCL_DEBUG": "INFO"} if "gpu" in scenario.hands_over else {}


@dataclass
class GpuCapture:
    """Runs `nvidia-smi dmon` beside a job, and collects the other reports at its end.

    Does nothing unless `hands_over` of the scenario names `gpu`.
    """

    scenario: Scenario
    folder: Path
    """Directory of the reports while the job runs."""
    monitor: subprocess.Popen[bytes] | None = field(default=None, init=False)
    started: float = field(default_factory=time.time, init=False)

    @property
    def wanted(self) -> bool:
        """True if the scenario hands over the reports."""
        return "gpu" in self.scenario.hands_over

    def __enter__(self) -> Self:
        if self.wanted:
            with suppress(OSError), (self.folder / DMON_LOG).open("wb") as out:
                self.monitor = subprocess.Popen(DMON, stdout=out, stderr=subprocess.STDOUT)  # noqa: S603
        return self

    def __exit__(self, *_: object) -> None:
        if self.monitor:
            self.monitor.terminate()
            self.monitor.wait()

    def reports(self) -> dict[str, bytes]:
        """Return the reports by file name: dmon, the driver's lines, and `nvidia-smi -q` without serials."""
        if not self.wanted:
            return {}
        state = SERIAL_NUMBER.sub(r"\1N/A", ask("-q"))
        reports = {"nvidia-smi-q.txt": state.encode(), "kernel.log": self._kernel_lines()}
        if (self.folder / DMON_LOG).exists():
            reports[f"nvidia-smi-{DMON_LOG}"] = (self.folder / DMON_LOG).read_bytes()
        return {name: content for name, content in reports.items() if content}

    def require_nccl(self, logs: Mapping[int, Path]) -> None:
        """Check that the log of every innocent worker has lines of NCCL, if the scenario asks for NCCL.

        Raises:
            FaultMissedError: TensorFlow chose another implementation, or found no GPU.
        """
        if not (self.wanted and "nccl" in self.scenario.program):
            return
        guilty = self.scenario.guilty if self.scenario.blames else None
        for index, path in logs.items():
            if index != guilty and b" NCCL " not in path.read_bytes():
                raise FaultMissedError(f"NCCL is not in the log of worker {index}: it was not used")

    def _kernel_lines(self) -> bytes:
        """Return the driver's lines in the kernel's log since the capture started."""
        since = f"@{self.started:.0f}"
        command = ["dmesg", "--time-format", "iso", "--since", since]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        except OSError:
            return b""
        lines = done.stdout.splitlines(keepends=True)
        return "".join(line for line in lines if any(word in line for word in DRIVER_WORDS)).encode()
