"""`mwms-collect k8s` with a real `kubectl`, against an API server that answers from a recording."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analyzer import analyze
from analyzer.cli.collect import main
from analyzer.collect.kubernetes import file_stem, job_of
from analyzer.model.errors import UsageError
from tests.collect.conftest import needs
from tests.collect.recorded_cluster import RecordedCluster, event, pod
from tests.recordings import sample_run_named

kubectl = needs("kubectl")
processes = pytest.mark.processes
LOG = "step 1 loss 0.5\nstep 2 loss 0.4\n"
Serve = Callable[[RecordedCluster], None]


@kubectl
@pytest.mark.recordings
def test_a_tfjob_is_collected_and_diagnosed(cluster: RecordedCluster, home: Path, capsys: Any) -> None:
    """As from its own files, without secrets of its environment, and by requests that only read."""
    assert main(["k8s", "tfjob/bert", "-n", "ml", "-o", "run"]) == 1
    assert "culprit worker:2  peer.killed" in capsys.readouterr().out
    logs = [f"bert-worker-{n}.log" for n in range(3)]
    configs = [f"tf_config-bert-worker-{n}.json" for n in range(3)]
    rest = [
        "collected_at.txt",
        "events.json",
        "exit_codes.txt",
        "get-tfjob-bert.json",
        "nodes.json",
        "pods.json",
    ]
    assert sorted(path.name for path in Path("run").iterdir()) == sorted([*logs, *configs, *rest])
    assert {request.method for request in cluster.server.requests} == {"GET"}
    document = analyze("run").document
    assert (document["cause"], document["culprits"]) == ("peer.killed", ["worker:2"])
    assert {each["id"]: each["host"] for each in document["workers"]}["worker:2"] == "gke-2.example"
    assert "exit_codes" not in {recipe["kind"] for recipe in document["collect"]}
    see_that_secrets_are_masked()
    listed = json.loads(Path("run/events.json").read_text())["items"]
    assert [each["involvedObject"]["name"] for each in listed] == ["bert-worker-0"], "not those of other jobs"


def see_that_secrets_are_masked() -> None:
    """By name or by form; in the pod, and in the copy of it that `kubectl apply` keeps; TF_CONFIG is whole."""
    stored = "".join(path.read_text() for path in Path("run").iterdir())
    assert "0123456789abcdef" not in stored
    assert "hunter2hunter2" not in stored
    described = json.loads(Path("run/pods.json").read_text())["items"][1]
    env = {each["name"]: each["value"] for each in described["spec"]["containers"][0]["env"]}
    assert env["WANDB_API_KEY"] == "[masked]"
    assert json.loads(env["TF_CONFIG"])["task"] == {"type": "worker", "index": 1}
    assert json.loads(Path("run/tf_config-bert-worker-1.json").read_text()) == json.loads(env["TF_CONFIG"])


@kubectl
@pytest.mark.recordings
def test_a_dry_run_prints_the_commands_that_are_run(
    cluster: RecordedCluster, home: Path, capsys: Any
) -> None:
    """Word for word, stores nothing, and marks what it leaves out."""
    assert main(["k8s", "tfjob/bert", "-n", "ml", "-o", "run", "--dry-run"]) == 0
    planned = capsys.readouterr().out
    assert list(home.glob("run*")) == []
    assert not any("/log?" in request.path for request in cluster.server.requests)
    main(["k8s", "tfjob/bert", "-n", "ml", "-o", "run", "--no-analyze"])
    *lines, counted = planned.splitlines()
    done = re.sub(r"  # [\d,]+ bytes", "", capsys.readouterr().out).splitlines()
    assert [line.removeprefix("(dry run) ") for line in lines] == done
    marked = [line for line in lines if line.startswith("(dry run) ")]
    stored = [path for path in Path("run").rglob("*") if path.is_file()]
    assert len(stored) == len(marked) + 1
    assert counted == (
        f"(dry run) {len(marked)} files and collected_at.txt would be stored in run; "
        "commands without this mark ran"
    )
    assert any("kubectl logs bert-worker-0 --container=tensorflow" in line for line in marked)
    assert not any("kubectl get" in line for line in marked)


@kubectl
@pytest.mark.recordings
def test_what_fails_is_told_and_the_rest_goes_on(cluster: RecordedCluster, home: Path, capsys: Any) -> None:
    """In the words of `kubectl`."""
    cluster.forbidden |= {"nodes", "tfjobs"}
    del cluster.logs["bert-worker-1", "tensorflow", False]
    assert main(["k8s", "tfjob/bert", "-o", "run", "--no-analyze"]) == 0
    told = capsys.readouterr().err
    assert 'nodes is forbidden: User "dev" cannot list resource' in told
    assert 'container "tensorflow" in pod "bert-worker-1" not found' in told
    assert Path("run/bert-worker-2.log").exists()
    assert not Path("run/bert-worker-1.log").exists()
    assert not Path("run/nodes.json").exists()


@kubectl
@processes
def test_pods_that_are_gone_are_told(serve_cluster: Serve, home: Path, capsys: Any) -> None:
    """With the exit status of nothing that could be read."""
    serve_cluster(RecordedCluster())
    assert main(["k8s", "job/bert", "-o", "run"]) == 4
    told = capsys.readouterr().err
    assert 'jobs "bert" not found' in told
    assert "no pods of job/bert: deleted, or another namespace?" in told


@kubectl
@processes
def test_an_indexed_job_has_attempts(serve_cluster: Serve, home: Path) -> None:
    """A pod that the job replaced is the attempt before; a container that was restarted has a previous log.

    While it waits for its next start, the previous log is the one that it has.
    """
    cluster = RecordedCluster()
    at = "batch.kubernetes.io/job-completion-index"
    labels = [{"batch.kubernetes.io/job-name": "bert", at: index} for index in "011"]
    cluster.objects["jobs"] = [{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "bert"}}]
    cluster.objects["pods"] = [
        pod("bert-0-xk2lp", None, labels=labels[0], restartCount=2),
        pod("bert-1-zzzzz", 1, labels=labels[1], created="2026-11-21T01:00:00Z"),
        pod("bert-1-aaaaa", None, labels=labels[2], created="2026-11-21T02:00:00Z"),
    ]
    for each in cluster.objects["pods"]:
        cluster.logs[each["metadata"]["name"], "tensorflow", False] = LOG
    cluster.logs["bert-0-xk2lp", "tensorflow", True] = LOG
    waiting = pod("bert-2-wwwww", None, labels=labels[0] | {at: "2"}, restartCount=5)
    waiting["status"]["containerStatuses"][0] |= {
        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
        "lastState": {"terminated": {"exitCode": 3}},
    }
    cluster.objects["pods"].append(waiting)
    cluster.logs["bert-2-wwwww", "tensorflow", False] = LOG
    serve_cluster(cluster)
    assert main(["k8s", "job/bert", "-o", "run", "--no-analyze"]) == 0
    stored = sorted(path.name for path in Path("run").glob("*.log"))
    assert stored == [
        "bert-0-xk2lp-previous.log",
        "bert-0-xk2lp.log",
        "bert-1-aaaaa-attempt-2.log",
        "bert-1-zzzzz-attempt-1.log",
        "bert-2-wwwww.log",
    ]
    codes = Path("run/exit_codes.txt").read_text().splitlines()
    assert codes == [
        "bert-0-xk2lp running",
        "bert-1-zzzzz-attempt-1 1",
        "bert-1-aaaaa-attempt-2 running",
        "bert-2-wwwww 3",
    ]


@kubectl
@pytest.mark.recordings
def test_an_indexed_job_whose_name_misleads_is_diagnosed(serve_cluster: Serve, home: Path) -> None:
    """Nobody is blamed for the number in the name of the job."""
    sample = sample_run_named("worker-killed") / "run"
    cluster = RecordedCluster()
    cluster.objects["pods"] = []
    for index, code in enumerate((1, 1, 137)):
        labels = {
            "batch.kubernetes.io/job-name": "worker-7",
            "batch.kubernetes.io/job-completion-index": f"{index}",
        }
        name = f"worker-7-{index}-xk2lp"
        cluster.objects["pods"].append(pod(name, code, labels=labels))
        cluster.logs[name, "tensorflow", False] = (sample / f"worker-{index}.log").read_text()
    serve_cluster(cluster)
    assert main(["k8s", "job/worker-7", "-o", "run", "--no-analyze"]) == 0
    document = analyze("run").document
    assert (document["cause"], document["culprits"]) == ("peer.killed", ["worker:2"])
    assert [each["id"] for each in document["workers"]] == ["worker:0", "worker:1", "worker:2"]


@kubectl
@processes
def test_pods_are_found_by_labels_and_by_the_selector_of_their_owner(
    serve_cluster: Serve, home: Path
) -> None:
    """`-l`, a StatefulSet, and a pod's own name."""
    cluster = RecordedCluster()
    cluster.objects["statefulsets"] = [
        {
            "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "bert"},
            "spec": {"selector": {"matchLabels": {"app": "bert", "part": "train"}}},
        }
    ]  # fmt: skip
    cluster.objects["pods"] = [
        pod("bert-0", 0, labels={"app": "bert", "part": "train"}),
        pod("bert-db-0", 0, labels={"app": "bert", "part": "db"}),
    ]
    cluster.objects["events"] = [event("bert-0", "Killing", "Stopping container tensorflow")]
    for each in cluster.objects["pods"]:
        cluster.logs[each["metadata"]["name"], "tensorflow", False] = LOG
    serve_cluster(cluster)
    for run, *named in (["a", "statefulset/bert"], ["b", "-l", "part=train"], ["c", "pods/bert-0"]):
        assert main(["k8s", *named, "-o", run, "--no-analyze"]) == 0
        assert [path.name for path in Path(run).glob("*.log")] == ["bert-0.log"]


@kubectl
@pytest.mark.recordings
def test_the_events_of_a_pod_that_is_gone_tell_its_end(
    cluster: RecordedCluster, home: Path, capsys: Any
) -> None:
    """It is named as gone, nobody is told to ask for its log, and events of other jobs stay where they are."""
    cluster.objects["tfjobs"][0]["spec"] = {"tfReplicaSpecs": {"Worker": {"replicas": 3}}}
    del cluster.objects["pods"][2]
    assert main(["k8s", "tfjob/bert", "-o", "silent"]) == 1
    told = capsys.readouterr()
    assert "2 of 3 pods of tfjob/bert exist; deleted, or never created: bert-worker-2" in told.err
    assert "has no pod bert-worker-2 any more" in " ".join(told.out.split())
    assert "kubectl -n ml logs" not in told.out
    cluster.objects["events"].append(
        event("bert-worker-2", "Preempted", "Preempted by prod/serve-7 on node n7")
    )
    assert main(["k8s", "tfjob/bert", "-o", "run"]) == 1
    told = capsys.readouterr()
    assert "2 of 3 pods of tfjob/bert exist; deleted: bert-worker-2" in told.err
    assert "culprit worker:2  peer.preempted" in told.out
    assert "gpt-worker-1" not in Path("run/events.json").read_text()
    assert Path("run/not_collected.txt").read_text().startswith("bert-worker-2.log\t2 of 3 pods")
    main(["k8s", "pod/bert-worker-1", "-o", "one", "--no-analyze"])
    assert "exist" not in capsys.readouterr().err  # nobody asked for the others


@kubectl
@processes
def test_pods_that_a_succeeded_job_no_longer_needs_are_not_missed(
    serve_cluster: Serve, home: Path, capsys: Any
) -> None:
    """Its operator deletes parameter servers that still run."""
    cluster = RecordedCluster()
    done = {"conditions": [{"type": "Succeeded", "status": "True"}]}
    spec = {"tfReplicaSpecs": {"Worker": {"replicas": 1}, "PS": {"replicas": 1}}}
    cluster.objects["tfjobs"] = [
        {"kind": "TFJob", "metadata": {"name": "bert"}, "spec": spec, "status": done}
    ]
    cluster.objects["pods"] = [pod("bert-worker-0", 0, labels={"training.kubeflow.org/job-name": "bert"})]
    cluster.logs["bert-worker-0", "tensorflow", False] = LOG
    serve_cluster(cluster)
    assert main(["k8s", "tfjob/bert", "-o", "run", "--no-analyze"]) == 0
    assert "bert-ps-0" not in capsys.readouterr().err
    assert not Path("run/not_collected.txt").exists()


@processes
def test_a_missing_tool_is_told(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """After the first command that needs it; no further one looks as if it had run."""
    monkeypatch.setenv("PATH", str(home))
    assert main(["k8s", "job/bert", "-o", "run"]) == 4
    told = capsys.readouterr()
    assert told.out == "kubectl get job bert --output=json\n"
    assert told.err.splitlines()[0] == "mwms-collect: kubectl is not in PATH"


def test_a_job_named_in_two_words_is_answered_with_the_right_form(capsys: Any) -> None:
    """As `kubectl get tfjob bert` takes it."""
    assert main(["k8s", "tfjob", "bert", "-n", "ml"]) == 2
    assert capsys.readouterr().err == "mwms-collect: tfjob bert: did you mean tfjob/bert?\n"


def test_a_directory_with_files_is_refused(home: Path, capsys: Any) -> None:
    """The files of two jobs would be diagnosed as one."""
    (home / "run").mkdir()
    (home / "run" / "worker-0.log").touch()
    assert main(["k8s", "job/bert", "-o", "run"]) == 2
    assert "-o run: exists and is not empty" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("target", "selector"), [("bert", None), (None, None), ("job/", None), ("job/x", "a=b")]
)
def test_a_job_needs_a_kind_or_labels(target: str | None, selector: str | None) -> None:
    """A name alone could be any object."""
    both = target is not None and selector is not None
    with pytest.raises(
        UsageError, match="KIND/NAME or its pods with -l, not both" if both else "as KIND/NAME"
    ):
        job_of(target, selector, ())


@pytest.mark.parametrize(
    ("name", "labels", "stem"),
    [
        ("bert-worker-1", {"training.kubeflow.org/replica-type": "Worker", "training.kubeflow.org/replica-index": "1"}, "bert-worker-1"),
        ("worker-7-worker-1", {"replica-type": "worker", "replica-index": "1"}, "worker-1"),
        ("train-2-1-xk2lp", {"batch.kubernetes.io/job-completion-index": "1"}, "worker-1"),
        ("bert-chief-0", {"replica-type": "chief", "replica-index": "0"}, "bert-chief-0"),
        ("bert-0", {}, "bert-0"),
    ],
)  # fmt: skip
def test_files_are_named_by_the_pod_unless_its_name_misleads(
    name: str, labels: dict[str, str], stem: str
) -> None:
    """Then by role and index, which its controller states."""
    assert file_stem(pod(name, 0, labels=labels)) == stem
