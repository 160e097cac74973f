"""What Kubernetes says of the pods, in the four forms in which people keep it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from analyzer.discover import discover
from analyzer.pipeline import analyze, load_tables
from analyzer.render import render
from tests.rules import our_rules

pytestmark = pytest.mark.runs

MakeRun = Callable[[Mapping[str, str]], Path]

LOST = """\
step 11 loss 0.5
step 12 loss 0.5
Traceback (most recent call last):
  File "/workspace/train.py", line 109, in <module>
    train()
tensorflow.python.framework.errors_impl.UnavailableError: Collective ops is aborted by: Socket closed
Additional GRPC error information from remote target /job:worker/replica:0/task:1 while calling /tensorflow.WorkerService/RecvBuf:
:UNKNOWN:Error received from peer  {grpc_status:14, grpc_message:"Socket closed"}
"""
LOGS = {"worker-0.log": LOST, "worker-1.log": "step 11 loss 0.5\nstep 12 loss 0.5\n"}


def pod(index: int, code: int, reason: str, **more: Any) -> dict[str, Any]:
    """A pod as the API server describes it, in the fields that matter and some that do not."""
    ended = {"terminated": {"containerID": "containerd://ab", "exitCode": code, "reason": reason}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"labels": {"app": "mnist"}, "name": f"mnist-worker-{index}", "namespace": "train"},
        "spec": {
            "containers": [{"image": "train:3", "name": "tensorflow"}],
            "nodeName": f"node-{7 + index}.example",
            "volumes": [{"name": "kube-api-access-x2"}],
        },
        "status": {
            "containerStatuses": [
                {"lastState": {}, "name": "tensorflow", "restartCount": 0, "state": ended, **more}
            ],
            "initContainerStatuses": [
                {
                    "lastState": {},
                    "name": "fetch",
                    "state": {"terminated": {"exitCode": 0, "reason": "Completed"}},
                }
            ],
            "phase": "Failed",
        },
    }


PODS = {"apiVersion": "v1", "items": [pod(0, 1, "Error"), pod(1, 137, "OOMKilled")], "kind": "List"}
DESCRIBED = """\
Name:             mnist-worker-0
Node:             node-7.example/10.0.0.7
Containers:
  tensorflow:
    State:          Terminated
      Reason:       Error
      Exit Code:    1
    Last State:     Terminated
      Reason:       Error
      Exit Code:    2

Name:             mnist-worker-1
Node:             node-8.example/10.0.0.8
Init Containers:
  fetch:
    State:          Terminated
      Reason:       Completed
      Exit Code:    0
Containers:
  tensorflow:
    State:          Terminated
      Reason:       OOMKilled
      Exit Code:    137
"""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pods.json", json.dumps(PODS, indent=4)),
        ("pods.json", json.dumps(PODS)),
        ("pods.json", "\n".join(json.dumps(each) for each in PODS["items"])),
        ("kubectl-get-pods.yaml", yaml.safe_dump(PODS)),
        ("describe-pods.txt", DESCRIBED),
    ],
)
def test_exit_codes_names_hosts_and_reasons(make_run: MakeRun, name: str, text: str) -> None:
    """Each is that of the worker whose pod it is, with its line; init containers and earlier lives do not count."""
    run = make_run({**LOGS, name: text})
    tables = load_tables(discover([run]), our_rules())
    facts = tables["facts"].filter(tables["facts"]["source"] == name)
    told = {(row["worker"], row["key"]): row for row in facts.iter_rows(named=True)}
    assert {key: row["value"] for key, row in told.items() if key[1] != "namespace"} == {
        ("worker:0", "pod"): "mnist-worker-0",
        ("worker:1", "pod"): "mnist-worker-1",
        ("worker:0", "exit_code"): "1",
        ("worker:1", "exit_code"): "-9",
        ("worker:0", "host"): "node-7.example",
        ("worker:1", "host"): "node-8.example",
    }
    line = text.split("\n")[told["worker:1", "exit_code"]["line"] - 1]
    assert "137" in line
    document = analyze([run]).document
    assert (document["cause"], document["culprits"]) == ("resource.host_oom_killed", ["worker:1"])
    assert {w["id"]: w["host"] for w in document["workers"]}["worker:1"] == "node-8.example"


def test_the_plain_table_names_who_was_killed(make_run: MakeRun) -> None:
    """It has no exit codes, but a status."""
    table = """\
NAME             READY   STATUS      RESTARTS   AGE
mnist-worker-0   0/1     Error       0          11m
mnist-worker-1   0/1     OOMKilled   0          11m
"""
    document = analyze([make_run({**LOGS, "get-pods.txt": table})]).document
    assert (document["cause"], document["culprits"]) == ("resource.host_oom_killed", ["worker:1"])


@pytest.mark.parametrize("state", ["Running", "Running, not ready", "one is Pending", "the last state"])
def test_pods_that_run_are_told_as_running(make_run: MakeRun, state: str) -> None:
    """If all run and all their containers are ready, and no container of them has ended."""
    ready = "0/1" if state == "Running, not ready" else "1/1"
    other = "Pending" if state == "one is Pending" else "Running"
    table = f"mnist-worker-0   {ready}   Running   0   11m\nmnist-worker-1   1/1   {other}   0   11m\n"
    running = {"state": {"running": {}}, "lastState": {"terminated": {"exitCode": 1}}}
    again = {"metadata": {"name": "mnist-worker-1"}, "status": {"containerStatuses": [running]}}
    pods = {"pods.json": json.dumps({"kind": "Pod", **again})} if state == "the last state" else {}
    logs = {f"mnist-worker-{task}.log": "step 1 loss 0.5\nstep 2 loss 0.5\n" for task in (0, 1)}
    document = analyze([make_run({**logs, "get-pods.txt": table, **pods})]).document
    assert ("still ran when listed" in document["summary"]) == (state == "Running")
    assert document["verdict"] == ("failed" if state == "the last state" else "inconclusive")


def test_the_wide_table_names_the_hosts(make_run: MakeRun) -> None:
    """Behind the address, after restarts of two words; a pod that no node took has neither."""
    table = """\
NAME             READY   STATUS      RESTARTS        AGE   IP           NODE      NOMINATED NODE   READINESS GATES
mnist-worker-0   0/1     Error       2 (4m12s ago)   11m   10.4.1.11    gpu-a01   <none>           <none>
mnist-worker-1   0/1     OOMKilled   0               11m   fd00::4:12   gpu-a02   <none>           <none>
mnist-worker-2   0/1     Pending     0               11m   <none>       <none>    gpu-a03          <none>
"""
    workers = analyze([make_run({**LOGS, "get-pods.txt": table})]).document["workers"]
    hosts = {worker["id"]: worker["host"] for worker in workers}
    assert (hosts["worker:0"], hosts["worker:1"]) == ("gpu-a01", "gpu-a02")
    assert hosts.get("worker:2") is None


def test_an_event_is_that_of_the_pod_it_is_about(make_run: MakeRun) -> None:
    """The message of an eviction stands behind the object that it involves."""
    events = {
        "items": [
            {
                "involvedObject": {"kind": "Pod", "name": "mnist-worker-1"},
                "message": "The node was low on resource: memory. Container train was using 61Gi.",
                "metadata": {"name": "mnist-worker-1.17a5"},
                "reason": "Evicted",
            }
        ]
    }
    document = analyze([make_run({**LOGS, "events.json": json.dumps(events, indent=4)})]).document
    assert (document["cause"], document["culprits"]) == ("scheduler.evicted", ["worker:1"])


def test_the_reason_of_an_event_may_precede_its_object(make_run: MakeRun) -> None:
    """An event belongs to its own object, in YAML as in JSON, and not to the pod of the event before."""
    events = [
        {"reason": reason, "involvedObject": {"kind": "Pod", "name": f"mnist-worker-{task}"}}
        for task, reason in ((0, "Started"), (1, "Evicted"), (2, "Started"))
    ]
    text = "items:\n" + "".join(
        f"- reason: {each['reason']}\n  involvedObject:\n    kind: Pod\n    name: mnist-worker-{task}\n"
        for task, each in enumerate(events)
    )
    for name, stated in (("events.json", json.dumps({"items": events}, indent=2)), ("events.yaml", text)):
        document = analyze([make_run({**LOGS, name: stated})]).document
        assert (document["cause"], document["culprits"]) == ("scheduler.evicted", ["worker:1"]), name


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("pods.json", json.dumps(PODS, indent=4)[:-200], [1]),
        ("pods.json", json.dumps(PODS, indent=4) * 2, []),
        ("pods.yaml", yaml.safe_dump(PODS)[:-20], []),
        ("pods.json", "Error from server (Forbidden): pods is forbidden\n", [1]),
    ],
)
def test_json_that_breaks_off_is_damage(make_run: MakeRun, name: str, text: str, expected: list[int]) -> None:
    """Several objects may follow one another, and YAML may end with any line."""
    tables = load_tables(discover([make_run({**LOGS, name: text})]), our_rules())
    lines = tables["damage"].filter(tables["damage"]["source"] == name)["line"].to_list()
    assert len(lines) == len(expected)
    assert all("is not JSON" in what for what in tables["damage"]["what"])


def test_events_of_an_operator_tell_exit_codes(make_run: MakeRun) -> None:
    """And a list of pods tells which of them does not run."""
    event = "Normal  ExitedWithCode  62s  tfjob-controller  Pod: ns.mnist-worker-1 exited with code 139\n"
    listed = "NAME            READY   STATUS    RESTARTS\nmnist-worker-0  0/1     Evicted   0\nmnist-ps-0  1/1  Running  0\n"
    run = make_run({"describe.txt": event, "kubectl_get_pods.txt": listed})
    facts = load_tables(discover([run]), our_rules())["facts"]
    assert set(facts.select("worker", "key", "value").rows()) == {
        ("worker:1", "exit_code", "-11"),
        ("worker:0", "pod", "mnist-worker-0"),
        ("worker:0", "pod_status", "Evicted"),
        ("ps:0", "pod", "mnist-ps-0"),
        ("ps:0", "pod_running", "yes"),
    }


@pytest.mark.parametrize(
    "dump", [lambda value: json.dumps(value, indent=4, sort_keys=True), json.dumps, yaml.safe_dump]
)
@pytest.mark.parametrize(
    ("labels", "worker"),
    [
        ({"batch.kubernetes.io/job-completion-index": "1"}, "worker:1"),
        ({"name": "bert", "training.kubeflow.org/replica-index": "0", "training.kubeflow.org/replica-type": "Chief"}, "chief:0"),
        ({"batch.kubernetes.io/job-completion-index": "0", "jobset.sigs.k8s.io/job-index": "3"}, "worker:3"),
        ({"batch.kubernetes.io/job-completion-index": "3", "jobset.sigs.k8s.io/job-index": "0"}, "worker:3"),
        ({"app": "bert"}, "worker:7"),
    ],
)  # fmt: skip
def test_labels_of_the_controller_outweigh_names(
    make_run: MakeRun, dump: Callable[[Any], str], labels: dict[str, str], worker: str
) -> None:
    """A job may be called worker-7; its name is that of its pods, and stands among their owners too."""
    one = pod(0, 1, "Error")
    one["metadata"] = {
        "labels": labels,
        "name": "worker-7-xk2lp",
        "ownerReferences": [{"kind": "Job", "name": "worker-7"}],
    }
    name = "pods.yaml" if dump is yaml.safe_dump else "pods.json"
    run = make_run({**LOGS, name: dump({"apiVersion": "v1", "items": [one], "kind": "List"})})
    facts = load_tables(discover([run]), our_rules())["facts"]
    assert set(facts.filter(facts["source"] == name)["worker"]) == {worker}


def test_pods_may_lack_their_kind_and_name_themselves_before_their_labels(make_run: MakeRun) -> None:
    """As API clients dump them, whose keys are in no order."""
    pods = [pod(0, 1, "Error"), pod(1, 137, "Error")]
    for index, each in enumerate(pods):
        del each["kind"], each["apiVersion"]
        labels = {"training.kubeflow.org/replica-index": str(index)}
        each["metadata"] = {"name": f"bert-worker-{index}", "labels": labels}
    run = make_run({**LOGS, "pods.json": json.dumps({"items": pods}, indent=1)})
    facts = load_tables(discover([run]), our_rules())["facts"]
    codes = facts.filter((facts["key"] == "exit_code") & (facts["source"] == "pods.json"))
    assert {*codes.select("worker", "value").rows()} == {("worker:0", "1"), ("worker:1", "-9")}


def test_the_pod_that_a_job_started_anew_counts(make_run: MakeRun) -> None:
    """Of two pods of one task, the exit code of the last one is that of the worker."""
    pods = [pod(1, 137, "Error"), pod(1, 0, "Completed")]
    for each, name in zip(pods, ("bert-1-aaaaa", "bert-1-bbbbb"), strict=True):
        each["metadata"] = {"labels": {"batch.kubernetes.io/job-completion-index": "1"}, "name": name}
    run = make_run({**LOGS, "pods.json": json.dumps({"items": pods, "kind": "List"}, indent=4)})
    facts = load_tables(discover([run]), our_rules())["facts"]
    codes = facts.filter((facts["key"] == "exit_code") & (facts["source"] == "pods.json"))
    assert codes.select("worker", "value").rows() == [("worker:1", "0")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "pods.json",
            """{"items": [
                {"metadata": {"name": "mnist-worker-1"}, "status": {"exitCode": 1}},
                {"metadata": {"name": "ds-dispatcher-6c9f"}, "status": {"name": "dispatcher", "exitCode": 137}}
            ]}""",
        ),
        (
            "describe.txt",
            "Name:         mnist-worker-1\nNamespace:    ml\n      Exit Code:    1\n\n"
            "Name:         ds-dispatcher-6c9f\nNamespace:    ml\n      Exit Code:    137\n",
        ),
    ],
)
def test_a_pod_of_no_worker_tells_nothing_of_the_pod_above_it(
    make_run: MakeRun, name: str, text: str
) -> None:
    """A tf.data service or a side job is listed beside the workers, and its end is not theirs."""
    pretty = json.dumps(json.loads(text), indent=2) if name.endswith("json") else text
    facts = load_tables(discover([make_run({**LOGS, name: pretty})]), our_rules())["facts"]
    codes = facts.filter(key="exit_code").select("worker", "value").rows()
    assert codes == [("worker:1", "1")]


def test_an_eviction_is_quoted_with_what_ran_short(make_run: MakeRun) -> None:
    """What the container used stands at the end of a long line."""
    ran_short = (
        "The node was low on resource: ephemeral-storage. Threshold quantity: 10724997340, available: 9012Mi. "
        "Container tensorflow was using 61235Mi, request is 0, has larger consumption of ephemeral-storage."
    )
    events = f"LAST SEEN   TYPE   REASON   OBJECT   MESSAGE\n12m   Warning   Evicted   pod/mnist-worker-1   {ran_short}\n"
    document = analyze([make_run({**LOGS, "events.txt": events})]).document
    assert document["cause"] == "scheduler.evicted"
    assert "tensorflow was using 61235Mi, request is 0" in " ".join(render(document, "text").split())


@pytest.mark.parametrize(
    ("message", "images"),
    [
        ('Back-off pulling image "registry.example/t5:2.18-rc9"', ["registry.example/t5:2.18-rc9"]),
        (
            'Failed to pull image "registry.example/t5@sha256:0f3a": not found',
            ["registry.example/t5@sha256:0f3a"],
        ),
        ('Successfully pulled image "registry.example/proxy:1" in 3.2s', []),
    ],
)
def test_the_image_that_could_not_be_pulled_is_named(
    make_run: MakeRun, message: str, images: list[str]
) -> None:
    """By the state of its container; one that was pulled is none."""
    waiting = {"state": {"waiting": {"reason": "ErrImagePull", "message": message}}}
    described = {"metadata": {"name": "t5-worker-1"}, "status": {"containerStatuses": [waiting]}}
    tables = load_tables(discover([make_run({"pods.json": json.dumps({"items": [described]})})]), our_rules())
    facts = tables["facts"].filter(key="image")
    assert facts["value"].to_list() == images
    assert set(facts["worker"]) <= {"worker:1"}
