"""What TensorFlow and ordinary training scripts state about themselves: log lines → facts.

Each announcement is a pattern like those of the rules; every named group becomes a fact of that key.
A pattern without groups states its own key with the value `yes`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from analyzer.ingest.logs.text import storable
from analyzer.ingest.matcher import Hit
from analyzer.model.run import Pattern
from analyzer.model.task_names import tasks_in

_TASK = r"(?P<{0}>/job:[a-z_]+/replica:\d+/task:\d+)"
_OTHER_BATCHES = r"(?:global|total|effective|eval|evaluation|val|valid|validation|test|inference)[-_ ]"
_IS_NUMBER = r"['\"]?\s{{0,2}}(?:[:=]|\bof\b|\bis\b|(?<=\s))\s{{0,2}}(?P<{0}>\d+)(?![\w.]*\w)"
_VERSION_OF = (
    "ensor",
    "ersion",
    "ERSION",
    *(name + sign for name in ("TF", "tf") for sign in " \t:='\"vV12"),
)
"""Two letters alone would be found in every other line, and slow down the search for all the rest."""
_TABLE: Mapping[str, tuple[tuple[str, ...], str | None]] = {
    "server_address": (("Started server with target",), r"Started server with target: grpc(?:\+\w+)?://(?P<server_address>\S+)"),
    "process_banner": (("This TensorFlow binary is optimized",), None),
    "requeued": (("JOB REQUEUE", "DUE TO REQUEUE", "DUE TO PREEMPTION"), None),
    "agent_connected": (("Coordination agent has successfully connected",), None),
    "connected": (("has connected to coordination service",), _TASK.format("connected") + r" has connected to coordination service. Incarnation: (?P<incarnation>\d+)"),
    "assembled": (("WaitForAllTasks",), r"Barrier\(WaitForAllTasks\S* has passed with status: (?P<assembled>OK)"),
    "leader": (("Initializing CoordinationService",), None),
    "awaits": (("Example stragglers", "still waiting for response from worker", "imed out task names"), r"(?P<awaits>(?:/job:[a-z_]+/replica:\d+/task:\d+\s*)+)"),
    "sigterm": (("SIGTERM caught at",), r"SIGTERM caught at (?P<sigterm>\S+)"),
    "tensorflow": (_VERSION_OF, r"(?i)(?<![\w./-])(?:tensorflow|tf)(?:[ _.-]*version(?:__)?)?['\"]?\s{0,3}[:=]{0,2}\s{0,3}['\"]?v?(?P<tensorflow>[12]\.\d{1,2}\.\d{1,2}(?:-?rc\d+)?)(?![\w.]*[/-])"),
    "python": (("ython",), r"(?i)(?<![\w./-])python(?:[ _]*version)?['\"]?\s{0,3}[:=]{0,2}\s{0,3}['\"]?(?P<python>3\.\d{1,2}(?:\.\d{1,2}))(?![\w.]*/)"),
    "host": (("host",), r"(?i)(?<![\w-])host(?:_?name)?['\"]?\s{0,2}[:=]\s{0,2}['\"]?(?P<host>[A-Za-z0-9][\w.-]*)"),
    "replicas": (("eplicas",), r"(?i)(?:number of replicas|num_replicas(?:_in_sync)?|replicas(?: in sync)?)['\"]?\s*[:=]\s*(?P<replicas>\d{1,9})(?!\d)"),
    "batch_size": (("atch",), r"(?i)(?<![\w-]|" + _OTHER_BATCHES + r")(?:--)?(?:per[-_ ](?:worker|replica)[-_ ])?batch[-_ ]?size(?:[-_ ]per[-_ ](?:worker|replica))?" + _IS_NUMBER.format("batch_size")),
    "global_batch_size": (("atch",), r"(?i)(?<![\w-])(?:--)?(?:global|total|effective)[-_ ]batch[-_ ]?size" + _IS_NUMBER.format("global_batch_size")),
    "batch_of": (("atch of ",), r"(?i)\bbatch of (?P<batch_of>\d+)(?=$|\n|[,;)]| (?:ready|examples?|samples?|images?|sequences?|sentences?)\b)"),
    "cluster_spec": (("cluster_spec",), r"cluster_spec(?: = |: )(?P<cluster_spec>(?:ClusterSpec\()?\{.*?\})"),
    "num_workers": (("num_workers =",), r"task_type = '?(?P<task_type>\w+)'?, task_id = (?P<task_id>\d+), num_workers = (?P<num_workers>\d+)"),
    "communication": (("communication = ",), r"communication = (?:CommunicationImplementation|CollectiveCommunication)\.(?P<communication>\w+)"),
    "single_worker": (("Single-worker MultiWorkerMirroredStrategy",), None),
    "channel_cache": (("Initialize GrpcChannelCache for job",), r"Initialize GrpcChannelCache for job (?P<channel_job>\w+) -> \{(?P<channels>[^}]*)\}"),
    "task": (("task", "TF_CONFIG"), r"['\"]?task['\"]?\s*[:=]?\s*(?P<task>\{[^{}]*\})"),
    "tf_config": (("TF_CONFIG", "\"cluster\"", "'cluster'"), r"(?P<tf_config>\{\s*['\"]cluster['\"].*\})"),
    "own_device": (("__wrapped__",), r"__wrapped__\w+?_device_" + _TASK.format("own_device")),
    "strategy": (("Strategy",), r"(?P<strategy>MultiWorkerMirroredStrategy|CollectiveAllReduceStrategy|ParameterServerStrategy|MirroredStrategy)(?:V\d)?\b"),
    "eager_service": (("eager_service_impl.cc",), None),
    "checkpoint": (("heckpoint", "ckpt", "saving model to", ".h5", ".keras"), r"(?i)(?:saved?|saving|written|wrote|restor\w+|backing up)\b[^\n]{0,60}?(?:to|into|at|in|from|:)?\s+['\"]?(?P<checkpoint>(?:[a-z0-9]+://|/|\./)?[\w./=+-]*(?:ckpt|checkpoint|model|backup)[\w./=+-]*\d[\w./=+-]*)"),
    "gpu": (("Created device", "Created TensorFlow device"), r"Created (?:TensorFlow )?device \(?/job:\S+/device:(?P<gpu>GPU:\d+)"),
    "gpu_library_missing": (("Could not load dynamic library", "Cannot dlopen some GPU libraries"), r"(?:Could not load dynamic library '(?P<gpu_library_missing>[^']+)'|Cannot dlopen some GPU libraries)"),
}  # fmt: skip
_UNFINISHED = re.compile(r"_temp/|tempstate")
"""Parts of a checkpoint that was never completed; nothing can be resumed from them."""
NOT_FROM_ERRORS = frozenset(
    {"host", "checkpoint", "replicas", "batch_size", "global_batch_size", "batch_of", "tensorflow", "python"}
)
"""What a script states about itself; an error that holds such words speaks of something else."""
_PREFIX = "announces/"
_ROLE = re.compile(r"[a-z_]+")
_INDEX = re.compile(r"[0-9]{1,9}")
_MOST_CUTS = 64
"""Closing braces behind a literal that are tried; each costs a reading of the whole."""

PATTERNS = tuple(
    Pattern(_PREFIX + key, literals, expression) for key, (literals, expression) in _TABLE.items()
)


def facts(hit: Hit) -> Iterator[tuple[str, str]]:
    """The facts that one confirmed announcement states, as (key, value)."""
    if not hit.pattern.startswith(_PREFIX):
        return
    if _TABLE[hit.pattern.removeprefix(_PREFIX)][1] is None:
        yield hit.pattern.removeprefix(_PREFIX), "yes"
    if "task_id" in hit.captures:
        yield "task", f"{hit.captures['task_type']}:{hit.captures['task_id']}"
    for key, value in hit.captures.items():
        yield from _normal(key, value, hit.captures)


def _normal(key: str, value: str, captures: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """One captured group in the one spelling that later stages know."""
    if key in {"task_type", "task_id", "channel_job"} or (key == "checkpoint" and _UNFINISHED.search(value)):
        return
    if key == "channels":
        addresses = re.findall(r"\d+ -> ([^,}\s]+)", value)
        yield "cluster_spec", json.dumps({captures["channel_job"]: addresses})
    elif key in {"connected", "own_device", "awaits"}:
        yield from ((key, task) for task in tasks_in(value))
    elif key == "task":
        yield from (("task", task) for task in _task_of(_literal(value)))
    elif key == "tf_config":
        yield from tf_config_facts(_literal(value))
    elif key == "cluster_spec":
        cluster = _literal(value.removeprefix("ClusterSpec("))
        if isinstance(cluster, dict):
            yield key, _cluster(cluster)
    else:
        yield key, value


def tf_config_facts(config: object) -> Iterator[tuple[str, str]]:
    """What a TF_CONFIG says: the cluster and the task that its owner claims to be."""
    if not isinstance(config, dict):
        return
    if isinstance(config.get("cluster"), dict):
        yield "cluster_spec", _cluster(config["cluster"])
    yield from (("task", task) for task in _task_of(config.get("task")))


def _cluster(cluster: Mapping[object, object]) -> str:
    """A cluster as later stages know it: roles to lists of addresses; what is neither is left out."""
    roles = {
        role: _addresses(value)
        for role, value in cluster.items()
        if isinstance(role, str) and _ROLE.fullmatch(role) and isinstance(value, list | dict)
    }
    return json.dumps(roles)


def _addresses(stated: list[object] | dict[object, object]) -> list[str]:
    """Addresses by index; a dict names the index of each."""
    if isinstance(stated, dict):
        by_index = sorted(stated.items(), key=lambda item: (len(str(item[0])), str(item[0])))
        stated = [address for _, address in by_index]
    return [storable(str(address)) for address in stated]


def _task_of(task: object) -> list[str]:
    if not isinstance(task, dict) or "type" not in task:
        return []
    index = str(task.get("index", ""))
    return [storable(f"{task['type']}:{index}")] if _INDEX.fullmatch(index) else []


def _literal(text: str) -> object:
    """A JSON or Python literal, cut at its last closing brace until it can be read; None when it cannot."""
    for _ in range(_MOST_CUTS):
        if not text:
            break
        for read in (json.loads, _python_literal):
            try:
                value: object = read(text)
            except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                continue
            return value
        text = text[: text.rfind("}", 0, -1) + 1]
    return None


def _python_literal(text: str) -> object:
    from ast import literal_eval

    return literal_eval(text)
