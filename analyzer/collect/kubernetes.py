"""Collects a job on Kubernetes with `kubectl`: pods, their logs, events, nodes and TF_CONFIG.

Knows Kubeflow's training operator (TFJob and its relatives), JobSet, Job (indexed or not) and whatever has a
selector of pods, such as a StatefulSet. Every request is a `get` or `logs`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from analyzer.collect.commands import Commands
from analyzer.collect.masking import variable
from analyzer.collect.members import Member, about, members, pods_of_events
from analyzer.ingest.platform.kubernetes.containers import training_containers
from analyzer.ingest.platform.kubernetes.pods import task_by_labels
from analyzer.model.errors import UsageError
from analyzer.model.task_names import worker_of

Json = Mapping[str, Any]

_OPERATOR = ("training.kubeflow.org/job-name", "tf-job-name", "job-name")
_POD_LABELS: Mapping[str, tuple[str, ...]] = {
    "job": ("batch.kubernetes.io/job-name", "job-name"),
    "jobset": ("jobset.sigs.k8s.io/jobset-name",),
    "trainjob": ("jobset.sigs.k8s.io/jobset-name",),
    **dict.fromkeys(("tfjob", "mpijob", "pytorchjob", "paddlejob", "xgboostjob"), _OPERATOR),
}
"""Kind → labels of its pods that hold its name, as current and earlier versions set them."""
_JOB_LABELS = tuple(dict.fromkeys(label for labels in _POD_LABELS.values() for label in labels))
_PLURALS = {"po": "pod", "sts": "statefulset", "deploy": "deployment", "rs": "replicaset"}
_MAX_NAMED = 10
_DONE = frozenset({"Succeeded", "Complete", "Completed"})
"""Conditions with which jobs of the kinds above state that they succeeded."""
_DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"


class Job(NamedTuple):
    """A job: its kind and name, or a selector of its pods; `scope` are options such as `--namespace`."""

    kind: str
    name: str
    selector: str
    scope: tuple[str, ...]

    def command(self, verb: str, *arguments: str) -> tuple[str, ...]:
        """Return a command of `kubectl` in the job's namespace."""
        return ("kubectl", verb, *arguments, *self.scope)


def job_of(target: str | None, selector: str | None, scope: Sequence[str]) -> Job:
    """Return the job that `KIND/NAME` or a selector of its pods names.

    Raises:
        UsageError: neither or both are given, or the target has no kind.

    """
    if target is None and selector:
        return Job("", "", selector, tuple(scope))
    kind, slash, name = (target or "").partition("/")
    if target and selector:
        raise UsageError("give KIND/NAME or its pods with -l, not both: each names a job")
    if not (slash and kind and name):
        raise UsageError("name the job as KIND/NAME, as in tfjob/bert or job/bert, or its pods with -l")
    singular = kind.lower().partition(".")[0]
    singular = _PLURALS.get(singular, singular.removesuffix("s") if singular != "sts" else singular)
    return Job(singular, name, "", tuple(scope))


def collect(commands: Commands, job: Job) -> None:
    """Save everything that the cluster still has of a job."""
    described = _described(commands, job)
    pods = _pods(commands, job, described)
    expected = [] if job.kind == "pod" else members(described, dict(_tf_configs(pods)))
    named = f"with {job.selector}" if job.selector else f"of {job.kind}/{job.name}"
    if pods:
        commands.write_json("pods.json", {"apiVersion": "v1", "kind": "List", "items": pods})
        for stem, pod in _attempts(pods):
            for container in _logged_containers(pod):
                _save_log(commands, job, stem, pod, container)
        codes = [f"{stem} {code}\n" for stem, pod in _attempts(pods) if (code := _exit_code(pod))]
        commands.write("exit_codes.txt", "".join(codes))
        _save_tf_configs(commands, pods)
        _save_nodes(commands, pods)
    else:
        commands.report_missing(f"no pods {named}: deleted, or another namespace?")
    told = _save_events(commands, job, {job.name, *map(_name, pods)} - {""}, expected)
    if pods and not _succeeded(described):
        gone = [each for each in expected if not any(each.is_named(_name(pod)) for pod in pods)]
        there = f"{len(expected) - len(gone)} of {len(expected)} pods {named} exist"
        _report_gone(commands, there, gone, told)


def _described(commands: Commands, job: Job) -> Json | None:
    """Save and return the description of the job itself; None for a pod, a selector, or without an answer."""
    if job.selector or job.kind == "pod":
        return None
    described: Json | None = commands.query_json(*job.command("get", job.kind, job.name, "--output=json"))
    if described:
        commands.write_json(f"get-{job.kind}-{job.name}.json", described)
    return described


def _pods(commands: Commands, job: Job, described: Json | None) -> list[Json]:
    """Return the pods of a job, the oldest first."""
    if job.kind == "pod":
        pod = commands.query_json(*job.command("get", "pod", job.name, "--output=json"))
        return [pod] if pod else []
    for selector in _selectors(job, described):
        listed = commands.query_json(*job.command("get", "pods", f"--selector={selector}", "--output=json"))
        if listed and listed["items"]:
            return sorted(listed["items"], key=lambda pod: str(pod["metadata"].get("creationTimestamp")))
    return []


def _selectors(job: Job, described: Json | None) -> list[str]:
    """Return the selectors to try: the given one, those of the kind, or the object's own."""
    if job.selector:
        return [job.selector]
    if job.kind in _POD_LABELS:
        return [f"{label}={job.name}" for label in _POD_LABELS[job.kind]]
    labels = ((described or {}).get("spec", {}).get("selector") or {}).get("matchLabels", {})
    return [",".join(f"{key}={value}" for key, value in labels.items())] if labels else []


def _attempts(pods: Sequence[Json]) -> Iterator[tuple[str, Json]]:
    """Yield (stem of file names, pod) for each pod; several pods of one task are its attempts, in order."""
    for _, group in groupby(sorted(pods, key=_task_or_name), key=_task_or_name):
        attempts = list(group)
        for number, pod in enumerate(attempts, 1):
            yield f"{file_stem(pod)}-attempt-{number}" if len(attempts) > 1 else file_stem(pod), pod


def _save_log(commands: Commands, job: Job, pod_stem: str, pod: Json, container: Json) -> None:
    """Save the log of a container, and the log before its restart if it was restarted.

    While a container waits for its next start, both commands print the log of its last attempt.
    """
    name = container["name"]
    stem = pod_stem if name == _main_container(pod) else f"{name}/{pod_stem}"
    logs = job.command("logs", pod["metadata"]["name"], f"--container={name}", "--timestamps")
    commands.save(f"{stem}.log", *logs)
    if container.get("restartCount") and "waiting" not in container.get("state", {}):
        commands.save(f"{stem}-previous.log", *logs, "--previous")


def _logged_containers(pod: Json) -> list[Json]:
    """Return the statuses of the containers whose logs matter: the main one, and others that failed."""
    status = pod.get("status", {})
    started = [*status.get("initContainerStatuses", ()), *status.get("containerStatuses", ())]
    main = _main_container(pod)
    ran = [each for each in started if "waiting" not in each.get("state", {}) or each.get("restartCount")]
    return [each for each in ran if each["name"] == main or _failed(each)]


def _failed(container: Json) -> bool:
    states = (container.get("state", {}), container.get("lastState", {}))
    return any(state.get("terminated", {}).get("exitCode") for state in states)


def _exit_code(pod: Json) -> str:
    """Return the exit code of the main container, `running`, or an empty string if it never started.

    A container that waits for its next start has that of its last attempt.
    """
    statuses = pod.get("status", {}).get("containerStatuses", ())
    main = _main_container(pod)
    container: Json = next((each for each in statuses if each["name"] == main), {})
    state = container.get("state", {})
    ended = (container.get("lastState", {}) if "waiting" in state else state).get("terminated")
    return str(ended["exitCode"]) if ended else "running" if "running" in state else ""


def _main_container(pod: Json) -> str:
    """Return the container that trains: one that gets TF_CONFIG, else the default one, else by its name.

    By name it is the one called like the job, else the one that the reader of pods takes; a sidecar trains
    only if there is nothing else.
    """
    specs = pod["spec"]["containers"]
    given = [str(each["name"]) for each in specs if _gets_tf_config(each)]
    names = given or [str(each["name"]) for each in specs]
    labels = pod["metadata"].get("labels") or {}
    stated = (_annotations(pod).get(_DEFAULT_CONTAINER), *(labels.get(label) for label in _JOB_LABELS))
    training = training_containers(names, next((str(each) for each in stated if each in names), ""), names)
    return next(name for name in names if name in training)


def _gets_tf_config(container: Json) -> bool:
    return any(each.get("name") == "TF_CONFIG" for each in container.get("env") or ())


def file_stem(pod: Json) -> str:
    """Return the pod's name if the analyzer can read its task from it, else the task: `worker-1`."""
    name, task = str(pod["metadata"]["name"]), _task(pod)
    return name if not task or worker_of(f"{name}.log") == worker_of(f"{task}.log") else task


def _name(pod: Json) -> str:
    return str(pod["metadata"]["name"])


def _task_or_name(pod: Json) -> str:
    return _task(pod) or str(pod["metadata"]["name"])


def _task(pod: Json) -> str:
    """Return role and index by the labels of the pod's controller, such as `worker-1`; empty if unknown."""
    labels = {**_annotations(pod), **(pod["metadata"].get("labels") or {})}
    return (task_by_labels(labels) or "").replace(":", "-")


def _annotations(pod: Json) -> Json:
    return pod["metadata"].get("annotations") or {}


def _save_tf_configs(commands: Commands, pods: Iterable[Json]) -> None:
    """Save the TF_CONFIG of each pod whose specification sets it; one that a script sets is not visible."""
    stems = {_name(pod): file_stem(pod) for pod in pods}
    for name, value in _tf_configs(pods):
        commands.write(f"tf_config-{stems[name]}.json", value + "\n")


def _tf_configs(pods: Iterable[Json]) -> Iterator[tuple[str, str]]:
    """Yield (pod, TF_CONFIG) for each pod whose specification sets it."""
    for pod in pods:
        container = _main_container(pod)
        (spec,) = (each for each in pod["spec"]["containers"] if each["name"] == container)
        if value := variable(spec.get("env") or (), "TF_CONFIG"):
            yield _name(pod), value


def _save_nodes(commands: Commands, pods: Iterable[Json]) -> None:
    """Save the description of the nodes: conditions, GPUs, versions of kernel and driver."""
    names = sorted({str(pod["spec"]["nodeName"]) for pod in pods if pod["spec"].get("nodeName")})
    described = names and commands.query_json("kubectl", "get", "nodes", *names, "--output=json")
    if described:
        commands.write_json("nodes.json", described)


def _succeeded(described: Json | None) -> bool:
    """Return True if the job says so: its operator may then have deleted pods that still ran."""
    conditions = ((described or {}).get("status") or {}).get("conditions") or ()
    return any(each["type"] in _DONE and each["status"] == "True" for each in conditions)


def _report_gone(commands: Commands, there: str, gone: Sequence[Member], told: Collection[str]) -> None:
    """Report pods that do not exist, and their logs as lost; `told` are the pods of which events tell."""
    deleted = all(any(map(each.is_named, told)) for each in gone)
    names = ", ".join(each.stem for each in gone[:_MAX_NAMED]) + (", …" if len(gone) > _MAX_NAMED else "")
    for each in gone:
        error = f"{there}; {'deleted' if deleted else 'deleted, or never created'}: {names}"
        commands.report_missing(error, f"{each.stem}.log")


def _save_events(commands: Commands, job: Job, names: set[str], expected: Sequence[Member]) -> set[str]:
    """Save the events of the job and its pods, of those that are gone too, and return whose they are."""
    listed = commands.query_json(*job.command("get", "events", "--output=json"))
    events = (listed or {}).get("items", ())
    kept = pods_of_events(events, names, expected)
    if own := [each for each in events if about(each) in kept]:
        commands.write_json("events.json", {"apiVersion": "v1", "kind": "List", "items": own})
    return set(map(about, own))
