"""A Kubernetes API server that answers from a recording, for a real `kubectl`; it refuses to change anything."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.collect.http_server import Answer, HttpServer, Request

Json = Any
NAMESPACE = "ml"
_RESOURCES: Mapping[str, Sequence[tuple[str, str]]] = {
    "/api/v1": [("pods", "Pod"), ("events", "Event"), ("nodes", "Node"), ("namespaces", "Namespace")],
    "/apis/batch/v1": [("jobs", "Job")],
    "/apis/apps/v1": [("statefulsets", "StatefulSet")],
    "/apis/kubeflow.org/v1": [("tfjobs", "TFJob")],
}
_KINDS = {plural: kind for each in _RESOURCES.values() for plural, kind in each}
_OBJECT = re.compile(
    r"/(?:api/v1|apis/[^/]+/[^/]+)(?:/namespaces/[^/]+)?/(?P<plural>[a-z]+)(?P<rest>(?:/[^/]+)*)"
)
_GROUPS = [path.split("/")[2:] for path in _RESOURCES if path.startswith("/apis/")]
_CLOCK = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+")
_EPOCH = re.compile(r"(?<!\d)1[67]\d{8}\.\d{6}(?!\d)")
"""Times in TensorFlow's lines: of its own clock (in UTC in the sample runs), or seconds since 1970."""
LIST = {"kind": "List", "apiVersion": "v1", "metadata": {}}


class RecordedCluster:
    """The objects of a namespace and the logs of its pods, behind HTTP on this machine."""

    def __init__(self) -> None:
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
        self.objects: dict[str, list[Json]] = {"namespaces": [namespace]}
        """Plural, as in `pods` → objects."""
        self.logs: dict[tuple[str, str, bool], str] = {}
        """Pod, container, and whether it is the previous log → text."""
        self.forbidden: set[str] = set()
        """Plurals that the user may not read."""
        self.server = HttpServer(self._answer)

    def kubeconfig(self, folder: Path) -> Path:
        """Write a kubeconfig that leads here."""
        path = folder / "kubeconfig"
        config = {
            "apiVersion": "v1", "kind": "Config", "current-context": "recorded",
            "clusters": [{"name": "recorded", "cluster": {"server": self.server.url}}],
            "users": [{"name": "nobody", "user": {}}],
            "contexts": [
                {"name": "recorded", "context": {"cluster": "recorded", "user": "nobody", "namespace": NAMESPACE}}
            ],
        }  # fmt: skip
        path.write_text(json.dumps(config))
        return path

    def _answer(self, request: Request) -> Answer:
        url = urlsplit(request.path)
        asked = {key: values[0] for key, values in parse_qs(url.query).items()}
        if request.method != "GET":
            return failure(405, "MethodNotAllowed", "this cluster is a recording")
        if url.path in _RESOURCES or url.path in {"/api", "/apis"}:
            return 200, _discovery(url.path)
        found = _OBJECT.fullmatch(url.path)
        if not found or found["plural"] not in _KINDS:
            return failure(404, "NotFound", f"the recording has no {url.path}")
        return self._objects(found["plural"], [each for each in found["rest"].split("/") if each], asked)

    def _objects(self, plural: str, rest: Sequence[str], asked: Mapping[str, str]) -> Answer:
        if plural in self.forbidden:
            return failure(
                403, "Forbidden", f'{plural} is forbidden: User "dev" cannot list resource "{plural}"'
            )
        if not rest:
            wanted = dict(each.split("=") for each in asked.get("labelSelector", "").split(",") if each)
            found = [each for each in self.objects.get(plural, ()) if wanted.items() <= _labels(each).items()]
            return 200, {**LIST, "kind": f"{_KINDS[plural]}List", "items": found}
        if rest[1:] == ["log"]:
            return self._log(rest[0], asked)
        named = [each for each in self.objects.get(plural, ()) if each["metadata"]["name"] == rest[0]]
        return (200, named[0]) if named else failure(404, "NotFound", f'{plural} "{rest[0]}" not found')

    def _log(self, pod: str, asked: Mapping[str, str]) -> Answer:
        container, previous = asked.get("container", "tensorflow"), asked.get("previous") == "true"
        text = self.logs.get((pod, container, previous))
        if text is None:
            return failure(
                400, "BadRequest", f'previous terminated container "{container}" in pod "{pod}" not found'
            )
        if asked.get("timestamps") != "true":
            return 200, text
        return 200, _stamped(text)


def _stamped(text: str) -> str:
    """Return a log with the time before each line, as the kubelet wrote it: that of the last line with one."""
    seconds = float(found[0]) if (found := _EPOCH.search(text)) else 0.0
    stamped = []
    for line in text.splitlines():
        if told := _CLOCK.match(line):
            seconds = datetime.fromisoformat(told[0]).replace(tzinfo=UTC).timestamp()
        elif told := _EPOCH.search(line):
            seconds = float(told[0])
        stamped.append(f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S.%f}000Z {line}\n")
    return "".join(stamped)


def failure(code: int, reason: str, message: str) -> Answer:
    """Return the status with which an API server says that something is wrong."""
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    return code, {**status, "code": code, "reason": reason, "message": message}


def _labels(thing: Json) -> Mapping[str, str]:
    labels: Mapping[str, str] = thing["metadata"].get("labels", {})
    return labels


def _discovery(path: str) -> Json:
    """Return what `kubectl` asks first: groups, versions, and their resources."""
    if path == "/api":
        return {"kind": "APIVersions", "versions": ["v1"]}
    if path == "/apis":
        versions = [{"groupVersion": "/".join(group), "version": group[1]} for group in _GROUPS]
        groups = [
            {"name": group[0], "versions": [version], "preferredVersion": version}
            for group, version in zip(_GROUPS, versions, strict=True)
        ]
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}
    resources = [
        {
            "name": plural, "singularName": kind.lower(), "kind": kind, "namespaced": kind not in {"Node", "Namespace"},
            "verbs": ["get", "list"], "shortNames": [],
        }
        for plural, kind in _RESOURCES[path]
    ]  # fmt: skip
    version = path.removeprefix("/api/").removeprefix("/apis/")
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": resources}


def pod(name: str, code: int | None, *, labels: Mapping[str, str], **more: Any) -> Json:
    """Return a pod whose container `tensorflow` ended with a status, or runs if that is None."""
    ended = {"exitCode": code, "reason": "Completed" if not code else "Error"}
    state = {"running": {"startedAt": "2026-11-21T01:00:00Z"}} if code is None else {"terminated": ended}
    container = {"name": "tensorflow", "image": "train:3", "env": more.pop("env", [])}
    metadata = {
        "name": name, "namespace": NAMESPACE, "labels": dict(labels), "annotations": more.pop("annotations", {}),
        "creationTimestamp": more.pop("created", "2026-11-21T00:59:00Z"),
    }  # fmt: skip
    status = {
        "name": "tensorflow",
        "ready": False,
        "restartCount": 0,
        "state": state,
        "lastState": {},
        **more,
    }
    return {
        "apiVersion": "v1", "kind": "Pod", "metadata": metadata,
        "spec": {"nodeName": f"gke-{name[-1]}.example", "containers": [container]},
        "status": {"phase": "Failed" if code else "Running", "containerStatuses": [status]},
    }  # fmt: skip


def event(name: str, reason: str, message: str) -> Json:
    """Return an event of a pod."""
    return {
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": f"{name}.17a5", "namespace": NAMESPACE},
        "involvedObject": {"kind": "Pod", "name": name, "namespace": NAMESPACE},
        "reason": reason, "message": message, "type": "Warning", "lastTimestamp": "2026-11-21T01:10:00Z",
    }  # fmt: skip


def trained_by_tfjob(sample: Path, **more_labels: str) -> RecordedCluster:
    """Return a cluster on which the TFJob `bert` left what a sample run holds."""
    cluster = RecordedCluster()
    codes = dict(line.split() for line in (sample / "run" / "exit_codes.txt").read_text().splitlines())
    for log in sorted((sample / "run").glob("worker-*.log")):
        index = log.stem.partition("-")[2]
        name = f"bert-worker-{index}"
        labels = {
            "training.kubeflow.org/job-name": "bert",
            "training.kubeflow.org/replica-type": "worker",
            "training.kubeflow.org/replica-index": index,
            **more_labels,
        }
        given = (sample / "run" / f"tf_config-{index}.json").read_text().strip()
        env = [
            {"name": "TF_CONFIG", "value": given},
            {"name": "WANDB_API_KEY", "value": "0123456789abcdef"},
            {"name": "DATABASE_URL", "value": "postgres://bert:hunter2hunter2@db/train"},
        ]
        code = int(codes[f"worker-{index}"]) % 256
        exit_status = 128 + 256 - code if code > 192 else code
        copy = json.dumps({"env": env})
        annotations = {"kubectl.kubernetes.io/last-applied-configuration": copy}
        cluster.objects.setdefault("pods", []).append(
            pod(name, exit_status, labels=labels, env=env, annotations=annotations)
        )
        cluster.logs[name, "tensorflow", False] = log.read_text()
    cluster.objects["tfjobs"] = [
        {
            "apiVersion": "kubeflow.org/v1",
            "kind": "TFJob",
            "metadata": {"name": "bert", "namespace": NAMESPACE},
        }
    ]
    cluster.objects["nodes"] = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"gke-{n}.example"}} for n in range(9)
    ]
    cluster.objects["events"] = [
        event("bert-worker-0", "Pulled", "Container image already present"),
        event("gpt-worker-1", "Evicted", "The node was low on resource: memory."),
    ]
    return cluster
