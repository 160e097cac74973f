"""Writes commands for the platform of the job, with the names that its files state.

These are the commands of next steps, and how to restart on other machines.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product
from types import MappingProxyType
from typing import Literal, NamedTuple

import polars as pl

from analyzer.diagnose.wording import wording
from analyzer.model import contract
from analyzer.model.findings import Step
from analyzer.model.placeholders import short_ids
from analyzer.model.run import Tables
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import worker_of

Platform = Literal["kubernetes", "slurm", "pbs", "lsf", "docker", "ssh", "vertex", "sagemaker"]
"""Where a job ran; `ssh` are hosts that nothing but ssh reached."""
_NODE = re.compile(r"(?=[\w.-]*[A-Za-z])[A-Za-z0-9][\w-]*")
"""A host name up to its first dot, which is the node's name for Slurm; addresses do not match."""
_FAILED = r"^[\w.-]+$"
"""Regex for a problem of a node that consists of its name alone, as srun reports a failure."""
_OTHER_NODES = (
    "nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
    "[{matchExpressions: [{key: kubernetes.io/hostname, operator: NotIn, values: [NODES]}]}]}}"
)
_TOOLS: Mapping[str, Platform] = {
    "kubectl": "kubernetes",
    "docker": "docker",
    **dict.fromkeys(("sacct", "sacctmgr", "scontrol", "sbatch", "squeue", "srun"), "slurm"),
    **dict.fromkeys(("qstat", "tracejob", "pbsnodes"), "pbs"),
    **dict.fromkeys(("bjobs", "bhist", "badmin"), "lsf"),
}
"""Command → the only platform that has it."""
_WITHOUT_SCHEDULER: Sequence[Platform] = ("ssh", "vertex", "sagemaker")
"""Platforms that only `mwms-collect` names, and of which no command is known."""
_SCHEDULER_FACTS: Sequence[tuple[Platform, str]] = (
    ("pbs", r"^(?:pbs|pbs_job|env:PBS_\w+)$"),
    ("lsf", r"^(?:lsf|lsf_job|env:LSB_\w+)$"),
    ("slurm", r"^(?:slurm|(?:job|step)_state|env:SLURM_\w+)$"),
)
"""Scheduler → regex for the keys of facts that only a job of its own states."""
_SLURM_VARIABLE = r"\bSLURM_[A-Z]"
"""Regex of what an error names that only a job of Slurm asks for."""
_SLURM_JOBS = (r"(?:^|/)slurm-(\d+)", r"\*\*\* (?:JOB|STEP) (\d+)")
"""Regexes for the ID of a job in the name of its log, and in what Slurm prints of its end."""
_DOCKER_LOG = r"(?:^|/)([A-Za-z0-9][\w.-]*)-json\.log(?:\.\d+)?(?:\.gz)?$"
"""Regex for the name of a log of Docker's `json-file` driver, with the container's ID or name."""
_COMPOSE_END = r"^[a-z0-9][\w.-]*[-_]\d{1,5} exited with code \d{1,3}(?: \(restarting\))?$"
"""Regex for the line with which docker compose reports that a container ended."""
_VERTEX_LOG = r"(?:^|[/#_-])workerpool\d+-\d+(?:\.[a-z]+)?$"
"""Regex for the name of a log of a replica of Vertex AI, which numbers its pools of workers."""
_SERVICE = r"\.svc(?:\.[\w.-]+)?:\d+$"
"""Regex for the end of the address of a Kubernetes service."""
_ADDRESS = re.compile(r"([A-Za-z0-9][\w.-]*):(\d{1,5})$")
_JOB_IDS: Sequence[tuple[str, Sequence[str]]] = (
    ('"$PBS_JOBID"', ("pbs_job", "env:PBS_JOBID")),
    ('"$LSB_JOBID"', ("lsf_job", "env:LSB_JOBID")),
)
"""Placeholder of a job's ID → keys of the facts that state it."""
_JOB_ID = re.compile(r"[\w.\[\]-]{1,80}")
_PLACEHOLDER = re.compile(
    r'("\$(?:SLURM_JOB_ID|PBS_JOBID|LSB_JOBID)"|\b(?:POD|IMAGE|CONTAINER|NODE|PATH|(?:LEADER_)?(?:HOST|PORT))\b)(?!=)'
)
_NAMED = re.compile(r"(?:On|In) (?:Kubernetes|Slurm|Docker|(?P<cloud>Google Cloud))\b")
_ON_A_CLOUD: Sequence[Platform] = ("kubernetes", "vertex")
_OF_A_NAMESPACE = re.compile(
    r"\bkubectl (?=(?:(?:get|describe|delete|top) (?:pods?|events|jobs?|pvc|resourcequota)|logs|exec)\b)"
    r"(?![^|;]* (?:-n|-A|--namespace|--all-namespaces)\b)(?![^|;]*\b[Nn]ode)"
)
"""Regex of the beginning of a command about what a namespace holds, and that names none."""
_PART = re.compile(r"""(?! )(?:[^;"']|"(?:[^"\\]|\\.)*"|'[^']*'|;(?! )|["'])+""")
_MAX_BLAMED = 3


class Job(NamedTuple):
    """The platform of a job, and for each blamed worker its names by placeholder, as `POD` → `bert-1`."""

    platform: Platform | None
    names: Sequence[Mapping[str, str]]
    namespace: str | None = None
    """The only namespace that the files of its pods state, if it is not the default one."""


def job_of(tables: Tables, blamed: Sequence[str], named: Mapping[str, str] = MappingProxyType({})) -> Job:
    """Return the platform of the job and the names of the blamed workers, as far as the files state them.

    `named` are further values by placeholder, which the evidence states.
    """
    platform = platform_of(tables)
    shared = {
        **named,
        **_slurm_job(tables),
        **_other_jobs(tables),
        **_address(tables, pl.col("leader"), "LEADER_"),
    }
    node = _failed_node(tables) if len(blamed) <= 1 else {}
    names = [{**shared, **node, **_names(worker, platform, tables)} for worker in blamed[:_MAX_BLAMED]]
    return Job(platform, names or [{**shared, **node}], _namespace(tables))


def _namespace(tables: Tables) -> str | None:
    stated = tables["facts"].filter(key="namespace")["value"].unique().to_list()
    return stated[0] if len(stated) == 1 and stated[0] != "default" else None


def _failed_node(tables: Tables) -> Mapping[str, str]:
    """Return the node that failed, if Slurm names one only."""
    nodes = failed_nodes(tables)
    return {"NODE": nodes[0]} if len(nodes) == 1 else {}


def failed_nodes(tables: Tables) -> list[str]:
    """Return the nodes of which srun reports a failure, or on which the controller ended a job for one."""
    told = pl.col("key").is_in(["node_problem", "node_of_killed_job"]) & pl.col("value").str.contains(_FAILED)
    return tables["facts"].filter(told)["value"].unique(maintain_order=True).to_list()


def platform_of(tables: Tables) -> Platform | None:
    """Return the platform that the files of a run show; None if they show none."""
    facts, sources, addresses = tables["facts"], tables["sources"], tables["workers"]["address"]
    collected = facts.filter(pl.col("key") == "collected_from")["value"].to_list()
    if (
        "docker" in collected
        or sources["source"].str.contains(_DOCKER_LOG).any()
        or (facts["key"] == "container").any()
        or facts.filter(key="exit_code")["excerpt"].str.contains(_COMPOSE_END).any()
    ):
        return "docker"
    if (sources["kind"] == Kind.PODS.value).any() or addresses.str.contains(_SERVICE).any():
        return "kubernetes"
    if sources["source"].str.contains(_SLURM_JOBS[0]).any():
        return "slurm"
    for scheduler, keys in _SCHEDULER_FACTS:
        if facts["key"].str.contains(keys).any():
            return scheduler
    if tables["exceptions"]["message"].str.contains(_SLURM_VARIABLE).any():
        return "slurm"
    vertex = sources["source"].str.contains(_VERTEX_LOG).any()
    return next((each for each in _WITHOUT_SCHEDULER if each in collected), "vertex" if vertex else None)


def _slurm_job(tables: Tables) -> Mapping[str, str]:
    """Return the ID of the Slurm job, if the files state one and no other."""
    facts = tables["facts"]
    texts = (tables["sources"]["source"], facts["excerpt"])
    found = [text.str.extract(regex) for text, regex in zip(texts, _SLURM_JOBS, strict=True)]
    stated = facts.filter(pl.col("key").is_in(["env:SLURM_JOB_ID", "slurm_job"]))["value"]
    jobs = pl.concat([*found, stated]).drop_nulls().unique()
    return {'"$SLURM_JOB_ID"': jobs[0]} if jobs.len() == 1 and jobs[0].isdecimal() else {}


def _other_jobs(tables: Tables) -> Mapping[str, str]:
    """Return the IDs of the jobs of PBS and LSF, of each scheduler if the files state one and no other."""
    facts = tables["facts"]
    stated = {each: facts.filter(pl.col("key").is_in(keys))["value"].unique() for each, keys in _JOB_IDS}
    single = {each: str(ids[0]) for each, ids in stated.items() if ids.len() == 1}
    return {each: job for each, job in single.items() if _JOB_ID.fullmatch(job)}


def _address(tables: Tables, of: pl.Expr, prefix: str = "") -> Mapping[str, str]:
    """Return host and port of a worker, if the cluster states its address."""
    address = next(iter(tables["workers"].filter(of)["address"].drop_nulls()), "")
    match = _ADDRESS.match(address)
    return {f"{prefix}HOST": match[1], f"{prefix}PORT": match[2]} if match else {}


def _address_in_cluster(tables: Tables, worker: str) -> Mapping[str, str]:
    """Return host and port that every stated cluster gives a worker; empty if they differ or none does."""
    role, _, index = worker.partition(":")
    stated = set()
    for text in tables["facts"].filter(key="cluster_spec")["value"].drop_nulls().unique():
        with suppress(ValueError, TypeError, AttributeError, IndexError, KeyError):
            stated.add(str(json.loads(text)[role][int(index)]))
    match = _ADDRESS.match(stated.pop()) if len(stated) == 1 else None
    return {"HOST": match[1], "PORT": match[2]} if match else {}


def _names(worker: str, platform: Platform | None, tables: Tables) -> Mapping[str, str]:
    """Return the values for placeholders of a worker: HOST, PORT, NODE, POD, IMAGE or CONTAINER."""
    own = pl.col("worker") == worker
    stated = dict(tables["facts"].filter(own).select("key", "value").reverse().iter_rows())
    known = {**_address_in_cluster(tables, worker), **_address(tables, own)}
    hosts = tables["workers"].filter(own)["host"].drop_nulls().to_list()
    nodes = _nodes_of_pods([worker], tables) or (_slurm_nodes(hosts) if platform in {"slurm", None} else [])
    known |= {"NODE": nodes[0]} if nodes else {}
    pod = stated.get("pod") or next((each for each in gone_pods(tables) if worker_of(each) == worker), None)
    if platform == "kubernetes" and pod:
        namespace = f" -n {stated['namespace']}" if "namespace" in stated else ""
        known["POD"] = pod + namespace
    if "image" in stated:
        known["IMAGE"] = stated["image"]
    if platform == "docker":
        logs = tables["sources"].filter(own)["source"].str.extract(_DOCKER_LOG).drop_nulls().to_list()
        container = stated.get("container") or next(iter(logs), None)
        known |= {"CONTAINER": short_ids(container)} if container else {}
    return known


def gone_pods(tables: Tables) -> list[str]:
    """Return the pods of which mwms-collect found that they no longer exist."""
    return tables["facts"].filter(key="pod_gone")["value"].to_list()


def _nodes_of_pods(workers: Sequence[str], tables: Tables) -> list[str]:
    """Return the nodes of the workers' pods, as stated in descriptions of pods; logs name only the pod."""
    pods = tables["sources"].filter(pl.col("kind") == Kind.PODS.value)["source"].to_list()
    placed = (pl.col("key") == "host") & pl.col("source").is_in(pods) & pl.col("worker").is_in(list(workers))
    return tables["facts"].filter(placed)["value"].unique().sort().to_list()


def _slurm_nodes(hosts: Sequence[str]) -> list[str]:
    return [node[0] for host in hosts if (node := _NODE.match(host))]


def restart_elsewhere(
    workers: Sequence[str], hosts: Sequence[str], tables: Tables
) -> contract.Restart | None:
    """Return how to restart the job without the hosts of these workers; None if the scheduler is unknown."""
    if nodes := _nodes_of_pods(workers, tables):
        return {"scheduler": "kubernetes", "text": _OTHER_NODES.replace("NODES", ", ".join(nodes))}
    named = _slurm_nodes(hosts)
    if not named or len(named) < len(hosts) or platform_of(tables) != "slurm":
        return None
    return {"scheduler": "slurm", "text": f"sbatch --exclude={','.join(named)} JOB.sh"}


def for_job(step: Step, job: Job) -> Step:
    """Return a step with its commands translated for the platform of the job, and placeholders filled in.

    A command of another platform is replaced by its equivalent, unless the step has one for the platform. A
    command that names a blamed worker is repeated for each; a name that no file states stays a placeholder.
    """
    commands = parts_of(step)
    own = any(_platform_of_command(each) == job.platform for each in commands)
    kept = [text for each in commands if (text := _on_platform(each, job.platform, own=own))]
    filled = dict.fromkeys(_filled(kept, job.names))
    if job.namespace:
        filled = dict.fromkeys(_OF_A_NAMESPACE.sub(f"kubectl -n {job.namespace} ", each) for each in filled)
    return step._replace(command="; ".join(filled) or None)


def parts_of(step: Step) -> list[str]:
    """Return the commands of a step that `; ` separates; what is in quotes is not divided."""
    return [found[0] for found in _PART.finditer(step.command or "")]


def without_repeats(steps: Sequence[Step]) -> list[Step]:
    """Return the steps without commands that a later step repeats; no step loses all its commands."""
    parts = [*map(parts_of, steps)]
    later = [{command for following in parts[n + 1 :] for command in following} for n in range(len(parts))]
    own = [
        [each for each in mine if each not in others] or mine
        for mine, others in zip(parts, later, strict=True)
    ]
    return [step._replace(command="; ".join(kept) or None) for step, kept in zip(steps, own, strict=True)]


def concerns(step: Step, job: Job) -> bool:
    """Return False for a step that begins with the name of another platform than the job's."""
    named = _NAMED.match(step.text)
    if named and named["cloud"]:
        return job.platform is None or job.platform in _ON_A_CLOUD
    return not (named and job.platform) or job.platform in step.text.lower()


def _platform_of_command(command: str) -> Platform | str:
    """Return the platform whose tool a command calls; empty if it runs everywhere."""
    return _TOOLS.get(command.partition(" ")[0], "")


def _on_platform(command: str, platform: Platform | None, *, own: bool) -> str:
    """Return the command, or its equivalent on the `platform`; empty if there is none.

    If the step has a command of its `own` for that platform, equivalents are not needed.
    """
    if platform is None or _platform_of_command(command) in {"", platform}:
        return command
    same: Mapping[str, str] = next(
        (texts for start, texts in wording()["same_command"].items() if command.startswith(start)), {}
    )
    return "" if own else same.get(platform, "")


def _filled(commands: Sequence[str], names: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """Yield each command filled in with each of `names` (placeholder → name)."""
    for command, known in product(commands, names):
        words = _PLACEHOLDER.split(command)
        yield "".join(known.get(word, word) for word in words)
