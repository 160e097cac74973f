"""Decides what to do with the job: whether and where to restart it, and from which checkpoint."""

import re
from collections.abc import Sequence
from typing import Literal, cast

import polars as pl

from analyzer.diagnose.advice.checkpoints import last_checkpoint, steps_lost, was_found_damaged
from analyzer.diagnose.advice.job_commands import failed_nodes, restart_elsewhere
from analyzer.diagnose.decide import Decision
from analyzer.model.contract import ActionTaken, Owner, Retry
from analyzer.model.findings import Action, Finding, Verdict
from analyzer.model.run import Tables

_ADDRESS = re.compile(r"\d+(?:\.\d+){3}|[0-9a-f:]*:[0-9a-f:]*")
"""Regex for an address, which tells no scheduler a node's name."""


def action_on_job(decision: Decision, findings: Sequence[Finding], tables: Tables) -> ActionTaken:
    """Return whether and where to restart the job, from which checkpoint, and who must fix it."""
    chosen = decision.chosen
    action = chosen.action if chosen else Action("as_is" if decision.cause == "healthy" else "unknown")
    retry = "exclude_host" if action.retry == "as_is" and _node_is_down(decision, tables) else action.retry
    if retry == "exclude_host" and action.owner != "hardware" and _is_one_machine(tables):
        retry = "after_fix"
    culprits = list(chosen.culprits) if chosen and retry == "exclude_host" else []
    exclude = _hosts(culprits, tables)
    resume_from = last_checkpoint(tables)
    taken: ActionTaken = {
        "retry": cast(Retry, retry),
        "owner": cast(
            Owner, "unknown" if _may_have_another_owner(chosen, findings, tables) else action.owner
        ),
        "exclude": exclude,
        "resume_from": resume_from,
        "steps_lost": steps_lost(resume_from, tables),
    }
    if decision.verdict is Verdict.FAILED and (restart := restart_elsewhere(culprits, exclude, tables)):
        taken["restart"] = restart
    if action.unless and retry == action.retry:
        taken["unless"] = action.unless
    if action.host and retry == action.retry:
        taken["host"] = cast(Literal["watch"], action.host)
    if action.checkpoint or was_found_damaged(resume_from, tables):
        taken["checkpoint"] = "earlier"
    return taken


def _hosts(culprits: Sequence[str], tables: Tables) -> list[str]:
    """Return the hosts of the culprits; of one known by its address only, the node that Slurm says failed."""
    named = tables["workers"].filter(pl.col("worker").is_in(culprits))["host"].drop_nulls()
    hosts: list[str] = named.unique(maintain_order=True).to_list()
    nodes = failed_nodes(tables)
    if len(culprits) == len(nodes) == 1 and all(map(_ADDRESS.fullmatch, hosts)):
        return nodes
    return hosts


def _may_have_another_owner(chosen: Finding | None, findings: Sequence[Finding], tables: Tables) -> bool:
    """Return True if a missing file may hide the culprit, and the owner depends on who that is.

    It does if another rule for the same cause names another owner, as for a NaN that began on one worker.
    """
    if chosen is None or chosen.culprits or not tables["job"]["unseen"].item():
        return False
    alike = (each for each in findings if each.cause == chosen.cause)
    return any(each.action.owner not in {chosen.action.owner, "unknown"} for each in alike)


def _is_one_machine(tables: Tables) -> bool:
    """Return True if all of several training workers have the same host in their addresses."""
    addresses = tables["workers"].filter(pl.col("trains") & pl.col("expected"))["address"]
    hosts = addresses.str.replace(r":\d*$", "").unique()
    return len(addresses) > 1 and len(hosts) == 1 and hosts[0] is not None


def _node_is_down(decision: Decision, tables: Tables) -> bool:
    """Return True if the scheduler says that the node of a culprit failed, or describes it as unusable."""
    culprits = decision.chosen.culprits if decision.chosen else ()
    states = tables["facts"].filter(pl.col("worker").is_in(culprits) & (pl.col("key") == "node_problem"))
    return states["value"].str.contains(r"^\S+(?:$| (?:NotReady|\S*(?:DOWN|NOT_RESPONDING)))").any()
