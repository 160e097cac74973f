"""Lists the pods that a Kubernetes job should have, including those that are gone.

The names follow from the job's: `bert-worker-2` for a TFJob and its relatives, `bert-2` for a StatefulSet,
`bert-2-x7k2p` for an indexed Job, `bert-workers-0-2-x7k2p` for a JobSet. Where the job is not described, the
addresses in TF_CONFIG name its pods, if that of each pod names the pod itself.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

Json = Mapping[str, Any]

_SUFFIX = r"-[a-z0-9]{5}"
"""Regex for what Kubernetes adds to a name to make it unique."""
_CREATED = re.compile(r"(?i)\bcreated? pod:? (?P<pod>[a-z0-9][\w.-]*)")
"""Regex for the event with which a controller says that it created a pod."""


class Member(NamedTuple):
    """A pod that a job has: its name, or the part of it before a random suffix."""

    stem: str
    suffixed: bool = False

    def is_named(self, pod: str) -> bool:
        """Return True if the pod of that name is this one, or an attempt of it."""
        return bool(re.fullmatch(re.escape(self.stem) + (_SUFFIX if self.suffixed else ""), pod))


def members(described: Json | None, tf_configs: Mapping[str, str]) -> list[Member]:
    """Return the pods that a job has by its description, else by TF_CONFIG (pod → value), in that order."""
    by_spec = list(_of_spec(described["metadata"]["name"], described.get("spec") or {})) if described else []
    return list(dict.fromkeys(by_spec or _of_clusters(tf_configs)))


def pods_of_events(events: Sequence[Json], known: set[str], expected: Sequence[Member]) -> set[str]:
    """Return the names of those pods in the events that belong to a job.

    It has the pods with names in `known`, those that a controller of that name created, and those that are
    `expected`, but for the ones that another controller created.
    """
    creators = dict(_created(events))
    own = {pod for pod, controller in creators.items() if controller in known}
    named = {name for each in events if (name := about(each)) and creators.get(name, name) == name}
    return known | own | {name for name in named if any(each.is_named(name) for each in expected)}


def about(event: Json) -> str:
    """Return the name of the object that an event is about; empty if it names none."""
    return str((event.get("involvedObject") or {}).get("name") or "")


def _created(events: Iterable[Json]) -> Iterator[tuple[str, str]]:
    """Yield (pod, controller) of each event that says that a pod was created."""
    for each in events:
        if found := _CREATED.search(str(each.get("message"))):
            yield found["pod"], about(each)


def _of_spec(name: str, spec: Json) -> Iterator[Member]:
    for key, value in spec.items():
        if key.endswith("ReplicaSpecs"):
            for role, replicas in value.items():
                if role != "Launcher":  # MPI's is the pod of a Job
                    yield from _numbered(f"{name}-{role.lower()}", replicas.get("replicas", 1))
        elif key == "replicatedJobs":
            for each in value:
                for number in range(each.get("replicas", 1)):
                    yield from _of_job(f"{name}-{each['name']}-{number}", each["template"]["spec"], "Indexed")
    if "serviceName" in spec and "replicas" in spec:
        first = (spec.get("ordinals") or {}).get("start", 0)
        yield from (Member(f"{name}-{first + each}") for each in range(spec["replicas"]))
    yield from _of_job(name, spec, "NonIndexed")


def _of_job(name: str, spec: Json, mode: str) -> Iterator[Member]:
    """Yield the pods of an indexed Job that run at once; those that work through a list are no tasks."""
    tasks = spec.get("completions")
    if spec.get("completionMode", mode) == "Indexed" and tasks and tasks == spec.get("parallelism", 1):
        yield from _numbered(name, tasks, suffixed=True)


def _numbered(name: str, count: int, *, suffixed: bool = False) -> Iterator[Member]:
    return (Member(f"{name}-{index}", suffixed) for index in range(count))


def _of_clusters(tf_configs: Mapping[str, str]) -> Iterator[Member]:
    """Yield the pods named by the addresses in TF_CONFIG; none if the address of a pod does not name it."""
    clusters = []
    for pod, text in tf_configs.items():
        with suppress(ValueError, TypeError, KeyError, IndexError, AttributeError):
            config = json.loads(text)
            cluster, task = config["cluster"], config["task"]
            own = _host(cluster[task["type"]][task["index"]])
            suffixed = pod != own
            if not Member(own, suffixed).is_named(pod):
                return
            hosts = (_host(address) for addresses in cluster.values() for address in addresses)
            clusters += [Member(host, suffixed) for host in hosts if not host.isdecimal()]
    yield from clusters


def _host(address: str) -> str:
    """Return the first label of the host of an address: `bert-0` of `bert-0.bert.ml.svc:2222`."""
    return address.partition(":")[0].partition(".")[0]
