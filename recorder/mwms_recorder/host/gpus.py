"""Reads GPUs with nvidia-smi: properties once, then the state from one process that keeps printing."""

from __future__ import annotations

import contextlib
import csv
import shutil
import subprocess
import threading
from typing import Any, Callable, Tuple

MIB = 1 << 20
Field = Tuple[str, Callable[[str], Any]]

FIXED: dict[str, Field] = {
    "index": ("index", int),
    "uuid": ("uuid", str),
    "name": ("name", str),
    "driver_version": ("driver", str),
    "memory.total": ("memory_total_bytes", lambda text: int(text) * MIB),
    "clocks.max.sm": ("clock_sm_max_mhz", float),
}
CHANGING: dict[str, Field] = {
    "index": ("index", int),
    "memory.used": ("memory_used_bytes", lambda text: int(text) * MIB),
    "utilization.gpu": ("utilization_percent", float),
    "temperature.gpu": ("temperature_celsius", float),
    "power.draw": ("power_watts", float),
    "clocks.sm": ("clock_sm_mhz", float),
    "clocks_throttle_reasons.active": ("throttle_reasons", lambda text: throttle_reasons(int(text, 16))),
    "ecc.errors.uncorrected.volatile.total": ("ecc_uncorrected", int),
}
REASONS = {
    0x4: "sw_power_cap",
    0x8: "hw_slowdown",
    0x20: "sw_thermal_slowdown",
    0x40: "hw_thermal_slowdown",
    0x80: "hw_power_brake_slowdown",
}
"""Names of NVML's clock event reasons, by bit, that slow a busy GPU; idle and set clocks are left out."""


def throttle_reasons(mask: int) -> list[str]:
    """Return the names of the throttle reasons in a bit mask."""
    return [name for bit, name in REASONS.items() if mask & bit]


def parsed(line: str, fields: dict[str, Field]) -> dict[str, Any]:
    """Return the values in a line of nvidia-smi's CSV by name; unsupported ones are left out."""
    row: dict[str, Any] = {}
    for text, (name, kind) in zip(next(csv.reader([line]), []), fields.values()):
        with contextlib.suppress(ValueError):  # "[N/A]", "[Not Supported]"
            row[name] = kind(text.strip())
    return row


def _command(fields: dict[str, Field]) -> list[str]:
    program = shutil.which("nvidia-smi")
    if not program:
        raise FileNotFoundError("nvidia-smi not found")
    return [program, f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits"]


def fixed() -> list[dict[str, Any]]:
    """Return the constant properties of each GPU.

    Raises:
        OSError: nvidia-smi is missing, fails (the message is its output) or takes over 20 s.
    """
    try:
        done = subprocess.run(_command(FIXED), capture_output=True, timeout=20, check=False)  # noqa: S603
    except subprocess.TimeoutExpired as error:
        raise OSError("nvidia-smi did not answer in 20 s") from error
    text = done.stdout.decode("utf-8", "replace")
    if done.returncode:
        raise OSError((text + done.stderr.decode("utf-8", "replace")).strip()[:500])
    return [parsed(line, FIXED) for line in text.splitlines() if line]


class Watch:
    """Keeps the latest state of each GPU, read by a background thread from nvidia-smi."""

    def __init__(self, interval: float) -> None:
        self._rows: dict[int, dict[str, Any]] = {}
        self._fresh: dict[int, int] = {}
        threading.Thread(target=self._follow, args=(interval,), daemon=True).start()

    def latest(self) -> list[dict[str, Any]]:
        """Return the latest state of each GPU; `lost` is True for a GPU no longer listed."""
        newest = max(self._fresh.values(), default=0)
        return [
            row if newest - self._fresh[index] <= 1 else {"index": index, "lost": True}
            for index, row in sorted(self._rows.items())
        ]

    def _follow(self, interval: float) -> None:
        try:
            command = [*_command(CHANGING), f"--loop={max(1, round(interval))}"]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)  # noqa: S603
        except OSError:
            return
        with process:
            for line in process.stdout or ():
                row = parsed(line.decode("utf-8", "replace"), CHANGING)
                if "index" in row:
                    self._rows[row["index"]] = row
                    self._fresh[row["index"]] = self._fresh.get(row["index"], 0) + 1
