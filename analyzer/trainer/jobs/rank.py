"""Finds which task of a job this process is, and the addresses of all tasks."""

from __future__ import annotations

import json
import socket
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.model.errors import UserError
from analyzer.trainer.free_ports import free_ports

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LAUNCHERS = {
    "Slurm": ("SLURM_PROCID", "SLURM_NTASKS"),
    "Open MPI": ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    "MPICH": ("PMI_RANK", "PMI_SIZE"),
    "a Kubernetes Indexed Job": ("JOB_COMPLETION_INDEX", "JOB_COMPLETIONS"),
}
"""Variables (rank, number of tasks) by launcher; the manifest of an Indexed Job must set the number."""
POLL_SECONDS = 0.2


class RankError(UserError):
    """The environment does not give the rank, or other tasks did not start in time."""


@dataclass(frozen=True)
class Rank:
    """Index of a task, the number of tasks, and all addresses if TF_CONFIG gives them (else empty)."""

    index: int
    count: int
    addresses: tuple[str, ...] = ()
    chief: bool = False

    @classmethod
    def given(cls, text: str) -> Rank:
        """Parse `INDEX/COUNT`, index from 0; raise RankError if it is invalid."""
        index, _, count = text.partition("/")
        if not (index.isdecimal() and count.isdecimal() and int(index) < int(count)):
            raise RankError(f"{text!r} is not INDEX/COUNT, with an index from 0")
        return cls(int(index), int(count))

    @classmethod
    def found(cls, environment: Mapping[str, str]) -> Rank:
        """Return the rank from TF_CONFIG or from the environment variables of a launcher.

        Raises:
            RankError: no such variable is set, or TF_CONFIG is invalid.
        """
        if "TF_CONFIG" in environment:
            return cls._of_tf_config(environment["TF_CONFIG"])
        for index, count in LAUNCHERS.values():
            if index in environment and count in environment:
                return cls(int(environment[index]), int(environment[count]))
        names = "; ".join(f"{name}: {', '.join(both)}" for name, both in LAUNCHERS.items())
        raise RankError(
            f"which task is this? No TF_CONFIG, no --rank, and no variables of a launcher ({names})"
        )

    @classmethod
    def _of_tf_config(cls, text: str) -> Rank:
        try:
            config = json.loads(text)
            groups, task = config["cluster"], config["task"]
            before = groups.get("chief", []) if task["type"] == "worker" else []
            addresses = (*groups.get("chief", []), *groups.get("worker", []))
            return cls(len(before) + int(task["index"]), len(addresses), addresses, "chief" in groups)
        except (ValueError, KeyError, TypeError) as error:
            raise RankError(f"TF_CONFIG is not one of a cluster of workers: {text[:200]}") from error


def meet(folder: Path, rank: Rank, address: str, timeout: float) -> tuple[str, ...]:
    """Write the task's address to a shared directory, wait for all tasks, and return all addresses by rank.

    Raises:
        RankError: not all tasks wrote their address within `timeout` seconds.
    """
    folder.mkdir(parents=True, exist_ok=True)
    fresh = folder / f"{rank.index}.new"
    fresh.write_text(address)
    fresh.replace(folder / f"{rank.index}.address")
    deadline = time.monotonic() + timeout
    while len(found := sorted(folder.glob("*.address"))) < rank.count:
        if time.monotonic() > deadline:
            raise RankError(f"{folder}: only {len(found)} of {rank.count} tasks came within {timeout:.0f} s")
        time.sleep(POLL_SECONDS)
    return tuple((folder / f"{index}.address").read_text() for index in range(rank.count))


def own_address(host: str | None) -> str:
    """Return `host:port` with a free port; without `host`, use the address of the default network route."""
    return f"{host or _own_host()}:{free_ports(1)[0]}"


def _own_host() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # nothing is sent: the kernel only chooses a route
        except OSError:
            return "127.0.0.1"
        return str(probe.getsockname()[0])
