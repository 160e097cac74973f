"""Asks the driver about GPUs with `nvidia-smi`."""

from __future__ import annotations

import re
import subprocess

from analyzer.trainer.witness import proc

DEVICE = re.compile(r"^GPU \d+: .*\(UUID: (\S+)\)", re.MULTILINE)
FORMAT = "--format=csv,noheader,nounits"
TIMEOUT_SECONDS = 60


def ask(*options: str) -> str:
    """Return the output of `nvidia-smi` with some options; empty if it fails or does not exist."""
    try:
        done = subprocess.run(  # noqa: S603 - our own words
            ["nvidia-smi", *options],  # noqa: S607
            capture_output=True,
            text=True,
            check=True,
            timeout=TIMEOUT_SECONDS,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout


def list_gpus() -> tuple[str, ...]:
    """Return the UUIDs of the GPUs that the driver lists."""
    return tuple(DEVICE.findall(ask("-L")))


def devices_of(pid: int) -> tuple[str, ...]:
    """Return the UUIDs in `CUDA_VISIBLE_DEVICES` of a process, as `/proc` shows it."""
    listed = proc.environment(pid).get("CUDA_VISIBLE_DEVICES", "").split(",")
    return tuple(device for device in listed if device.startswith("GPU-"))


def reading(device: str, quantity: str) -> float | None:
    """Return a quantity of a GPU, such as `utilization.gpu` (percent); None if the driver does not say."""
    return _number(ask(f"--query-gpu={quantity}", FORMAT, "-i", device))


def _number(text: str) -> float | None:
    found = re.match(r"\s*(\d+(?:\.\d+)?)", text)
    return float(found[1]) if found else None
