"""Writes what tells the job's scheduler to start the job again on other machines."""

import re
from collections.abc import Sequence

import polars as pl

from analyzer.model import contract
from analyzer.model.run import Tables
from analyzer.model.source_kinds import Kind

_NODE = re.compile(r"(?=[\w.-]*[A-Za-z])[A-Za-z0-9][\w-]*")
"""A host name up to its first dot, which is the node's name for Slurm; addresses do not match."""
_OTHER_NODES = (
    "nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
    "[{matchExpressions: [{key: kubernetes.io/hostname, operator: NotIn, values: [NODES]}]}]}}"
)


def restart_elsewhere(
    workers: Sequence[str], hosts: Sequence[str], tables: Tables
) -> contract.Restart | None:
    """Return how to restart the job without the hosts of these workers; None if no file tells the scheduler.

    Kubernetes' names of nodes are those in its description of pods: a pod calls itself by its own name.
    """
    facts, sources = tables["facts"], tables["sources"]
    pods = sources.filter(pl.col("kind") == Kind.PODS.value)["source"].to_list()
    placed = facts.filter((pl.col("key") == "host") & pl.col("source").is_in(pods))
    nodes = placed.filter(pl.col("worker").is_in(list(workers)))["value"].unique().sort().to_list()
    if nodes:
        return {"scheduler": "kubernetes", "text": _OTHER_NODES.replace("NODES", ", ".join(nodes))}
    named = [node[0] for host in hosts if (node := _NODE.match(host))]
    by_slurm = facts["key"].str.contains(r"^(?:slurm|(?:job|step)_state|env:SLURM_\w+)$").any()
    if not by_slurm or pods or not named or len(named) < len(hosts):
        return None
    return {"scheduler": "slurm", "text": f"sbatch --exclude={','.join(named)} JOB.sh"}
