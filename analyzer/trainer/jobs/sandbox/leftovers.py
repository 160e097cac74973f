"""Removes what a killed trainer left: processes, mounts, directories, network namespaces, cgroups."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING

from analyzer.trainer.faults.memory_group import GROUP, ROOTS
from analyzer.trainer.jobs.sandbox.hosts import NAMES, SPACE

if TYPE_CHECKING:
    from collections.abc import Iterator

JOB = "mwms-job"


def job_prefix() -> str:
    """Return the name prefix of a job's scratch directory, with the trainer's process ID."""
    return f"{JOB}-{os.getpid()}-"


def remove_leftovers() -> list[str]:
    """Remove everything left by trainers that no longer run; return the names of what was removed."""
    return [*_directories(), *_namespaces(), *_groups()]


def _directories() -> Iterator[str]:
    for folder in Path(gettempdir()).glob(f"{JOB}-*"):
        if _is_orphan(folder.name, JOB):
            _end_processes_in(folder)
            for mount in _mounts_below(folder):
                _run("umount", "--lazy", mount)
            shutil.rmtree(folder, ignore_errors=True)
            yield str(folder)


def _namespaces() -> Iterator[str]:
    folder = Path("/run/netns")
    for space in sorted(folder.glob(f"{SPACE}-*")):
        if _is_orphan(space.name, SPACE):
            _run("ip", "netns", "del", space.name)
            shutil.rmtree(NAMES / space.name, ignore_errors=True)
            yield space.name


def _groups() -> Iterator[str]:
    for root in ROOTS:
        for group in root.glob(f"{GROUP}*"):
            if _is_orphan(group.name, GROUP.rstrip("-")):
                with suppress(OSError):
                    group.rmdir()
                    yield str(group)


def _is_orphan(name: str, prefix: str) -> bool:
    """Return True if a name has the form PREFIX-PID and that process has ended."""
    found = re.match(rf"{prefix}-(\d+)", name)
    return found is not None and not Path(f"/proc/{found[1]}").exists()


def _end_processes_in(folder: Path) -> None:
    for link in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):
            if link.readlink().is_relative_to(folder):
                os.kill(int(link.parent.name), signal.SIGKILL)


def _mounts_below(folder: Path) -> list[str]:
    mounts = (line.split()[1] for line in Path("/proc/mounts").read_text().splitlines())
    return [mount for mount in mounts if Path(mount).is_relative_to(folder)]


def _run(*command: str) -> None:
    subprocess.run(command, check=False, capture_output=True)  # noqa: S603 - words of ours
