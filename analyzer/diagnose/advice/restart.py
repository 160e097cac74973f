"""Writes commands for the platform of the job: those of its next steps, and a start on other machines."""

import re
from collections.abc import Mapping, Sequence
from typing import Literal

import polars as pl

from analyzer.model import contract
from analyzer.model.findings import Step
from analyzer.model.run import Tables
from analyzer.model.source_kinds import Kind

Platform = Literal["kubernetes", "slurm"]
_NODE = re.compile(r"(?=[\w.-]*[A-Za-z])[A-Za-z0-9][\w-]*")
"""A host name up to its first dot, which is the node's name for Slurm; addresses do not match."""
_OTHER_NODES = (
    "nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
    "[{matchExpressions: [{key: kubernetes.io/hostname, operator: NotIn, values: [NODES]}]}]}}"
)

_TOOLS: Mapping[Platform, tuple[str, ...]] = {
    "kubernetes": ("kubectl",),
    "slurm": ("sacct", "scontrol", "sbatch", "squeue", "srun"),
}
"""Platform → its commands, which mean nothing on another one."""


def restart_elsewhere(
    workers: Sequence[str], hosts: Sequence[str], tables: Tables
) -> contract.Restart | None:
    """Return how to restart the job without the hosts of these workers; None if no file tells the scheduler.

    Kubernetes' names of nodes are those in its description of pods: a pod calls itself by its own name.
    """
    facts, sources = tables["facts"], tables["sources"]
    platform, pods = (
        platform_of(tables),
        sources.filter(pl.col("kind") == Kind.PODS.value)["source"].to_list(),
    )
    placed = facts.filter((pl.col("key") == "host") & pl.col("source").is_in(pods))
    nodes = placed.filter(pl.col("worker").is_in(list(workers)))["value"].unique().sort().to_list()
    if nodes:
        return {"scheduler": "kubernetes", "text": _OTHER_NODES.replace("NODES", ", ".join(nodes))}
    named = [node[0] for host in hosts if (node := _NODE.match(host))]
    if platform != "slurm" or not named or len(named) < len(hosts):
        return None
    return {"scheduler": "slurm", "text": f"sbatch --exclude={','.join(named)} JOB.sh"}


def platform_of(tables: Tables) -> Platform | None:
    """Return the platform that the files of a run show; None if they show none."""
    if (tables["sources"]["kind"] == Kind.PODS.value).any():
        return "kubernetes"
    by_slurm = tables["facts"]["key"].str.contains(r"^(?:slurm|(?:job|step)_state|env:SLURM_\w+)$").any()
    return "slurm" if by_slurm else None


def for_platform(step: Step, platform: Platform | None) -> Step:
    """Return a step without the commands of other platforms than the run's, if any is left."""
    foreign = {tool for name, tools in _TOOLS.items() if platform not in {None, name} for tool in tools}
    commands = step.command.split("; ") if step.command else []
    kept = [command for command in commands if command.partition(" ")[0] not in foreign]
    return step._replace(command="; ".join(kept)) if kept else step
