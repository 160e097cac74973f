"""What kubectl and scontrol say of the nodes of a job."""

from __future__ import annotations

from collections.abc import Iterable

from tests.fuzz.oracles import unsaid as wrong
from tests.fuzz.target import Seed
from tests.ingest.platform.test_nodes import KUBERNETES, ONE_LINE, SLURM

__all__ = ["seeds", "wrong"]


def seeds() -> Iterable[Seed]:
    """One of each form."""
    yield Seed("scontrol.nodes", SLURM.encode())
    yield Seed("scontrol-show-node.txt", ONE_LINE.encode())
    yield Seed("nodes.json", KUBERNETES.encode())
