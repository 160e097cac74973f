"""Commands for the platform of the job: those of next steps, and a restart without the culprit's machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from analyzer.diagnose.advice.job_commands import Job, concerns, for_job, restart_elsewhere, without_repeats
from analyzer.model.findings import Step
from analyzer.model.options import AnalysisOptions
from analyzer.pipeline import analyze
from analyzer.render import render
from analyzer.tables.builders import frame

MakeRun = Callable[[Mapping[str, str]], Path]
FAULT = "[Sat Nov 21 02:08:30 2026] NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, name=python, GPU has fallen off the bus.\n"
SRUN = "srun: error: cn03: task 1: Exited with exit code 1\n"


def restarted(
    hosts: list[str], *facts: tuple[str, str, str], kind: str = "log", raised: str = "KeyError"
) -> str | None:
    """Return how to restart without worker:1, whose hosts are given, by facts (source, key, value)."""
    sources = [{"source": "a", "kind": kind, "read": "complete"}]
    rows = [{"worker": "worker:1", "source": s, "key": key, "value": value} for s, key, value in facts]
    tables = {
        "facts": frame("facts", rows),
        "sources": frame("sources", sources),
        "workers": frame("workers", []),
        "exceptions": frame("exceptions", [{"message": raised}]),
    }
    found = restart_elsewhere(["worker:1"], hosts, tables)
    return found and found["text"]


@pytest.mark.parametrize("key", ["slurm", "job_state", "env:SLURM_JOB_ID"])
def test_slurm_excludes_the_node(key: str) -> None:
    """Known by what srun prints, by the accounting or by the environment; a node has no domain."""
    assert restarted(["cn03.cluster.local"], ("a", key, "x")) == "sbatch --exclude=cn03 JOB.sh"


def test_an_error_that_names_a_variable_of_slurm_is_of_a_slurm_job() -> None:
    """Nothing else asks for it."""
    assert restarted(["cn03"], raised="'SLURM_PROCID'") == "sbatch --exclude=cn03 JOB.sh"


def test_kubernetes_names_the_node_of_the_pod() -> None:
    """Only where the description of the pod states the node: a pod's own name of its host is no node."""
    assert "values: [gke-7]" in str(restarted(["gke-7"], ("a", "host", "gke-7"), kind="pods"))
    assert restarted(["bert-worker-1"], ("b", "host", "bert-worker-1"), kind="pods") is None


def test_nothing_is_guessed() -> None:
    """Neither the scheduler nor a node of which only the address is known."""
    assert restarted(["cn03"], ("a", "host", "cn03")) is None
    assert restarted(["cn03", "10.0.3.7"], ("a", "slurm", "srun")) is None
    assert restarted([], ("a", "slurm", "srun")) is None


@pytest.mark.runs
@pytest.mark.parametrize(("nodes", "excluded"), [(["node2"], "node2"), (["node2", "node3"], "NODE")])
def test_a_node_that_failed_is_named_without_a_culprit(
    make_run: MakeRun, nodes: list[str], excluded: str
) -> None:
    """By srun; of two, no command names one."""
    log = "".join(f"srun: error: Node failure on {node}\n" for node in nodes)
    killed = (
        "slurmstepd: error: *** JOB 7 ON node1 CANCELLED AT 2026-11-21T02:08:30 DUE TO NODE FAILURE ***\n"
    )
    files = {
        "slurm-7.out": f"{log}{killed}",
        "worker-0.log": "step 1 loss 0.5\n",
        "worker-1.log": "step 1 loss 0.5\n",
    }
    document = analyze([make_run(files)]).document
    assert [step["command"] for step in document["next"]][-1] == f"sbatch --exclude={excluded} JOB.sh"


DESCRIBE = "kubectl describe pod POD | grep -A8 'Last State'"
STATE = "docker inspect --format '{{json .State}} memory limit: {{.HostConfig.Memory}}' "
SACCT = "sacct -j 7 --format=JobID,State,ExitCode,MaxRSS,NodeList"


@pytest.mark.parametrize(
    ("platform", "names", "command", "kept"),
    [
        ("kubernetes", [{}], "sacct -j 7; kubectl get svc; dmesg -T", "kubectl get svc; dmesg -T"),
        ("kubernetes", [{"POD": "bert-1 -n ml"}], DESCRIBE, "kubectl describe pod bert-1 -n ml | grep -A8 'Last State'"),
        ("kubernetes", [{"POD": "a"}, {"POD": "b"}], "dmesg -T; kubectl logs POD", "dmesg -T; kubectl logs a; kubectl logs b"),
        ("docker", [{"CONTAINER": "3cd945e912aa"}], f"{DESCRIBE}; dmesg -T", f"{STATE}3cd945e912aa; dmesg -T"),
        ("slurm", [{'"$SLURM_JOB_ID"': "7"}], DESCRIBE, SACCT),
        ("kubernetes", [{"IMAGE": "reg/t5:2"}], "crictl pull IMAGE", "crictl pull reg/t5:2"),
        ("docker", [{"IMAGE": "reg/t5:2"}], "docker run IMAGE=1", "docker run IMAGE=1"),
        ("slurm", [{}], "kubectl get networkpolicy -A", None),
        (None, [{}], f"sacct -j 7; {DESCRIBE}", f"sacct -j 7; {DESCRIBE}"),
        (None, [{"HOST": "gpu24.lab", "PORT": "2222"}], "nc -vz -w 5 HOST PORT", "nc -vz -w 5 gpu24.lab 2222"),
        ("slurm", [{}], None, None),
        ("ssh", [{}], f"sacct -j 7; {DESCRIBE}; dmesg -T", "dmesg -T"),
        ("vertex", [{}], DESCRIBE, None),
        ("pbs", [{'"$PBS_JOBID"': "7.pbs01"}], "sacct -j 7; dmesg -T", "qstat -x -f 7.pbs01; tracejob 7.pbs01; dmesg -T"),
        ("lsf", [{}], DESCRIBE, 'bjobs -l "$LSB_JOBID"; bhist -l "$LSB_JOBID"'),
        ("lsf", [{"NODE": "gpu17"}], "scontrol update nodename=NODE state=drain", "badmin hclose gpu17"),
        ("kubernetes", [{}], "sacct -j 7", DESCRIBE),
    ],
)  # fmt: skip
def test_a_step_has_commands_of_its_platform_that_can_be_pasted(
    platform: Any, names: list[dict[str, str]], command: str | None, kept: str | None
) -> None:
    """With the names of the blamed workers, and for a command of another platform what shows as much."""
    assert for_job(Step("Look.", command), Job(platform, names)) == Step("Look.", kept)


@pytest.mark.parametrize(
    ("platform", "left_out"), [("slurm", [1]), ("docker", [0, 1, 2]), ("kubernetes", [0]), (None, [])]
)
def test_steps_of_another_platform_are_left_out(platform: Any, left_out: list[int]) -> None:
    """Those that begin with its name, and do not go on with that of the job's."""
    texts = ["On Slurm, look.", "In Kubernetes, look.", "On Kubernetes, look; on Slurm, listen.", "Look."]
    kept = [concerns(Step(text), Job(platform, [])) for text in texts]
    assert [number for number, each in enumerate(kept) if not each] == left_out


@pytest.mark.parametrize(("platform", "kept"), [("slurm", False), ("kubernetes", True), (None, True)])
def test_a_step_of_a_cloud_is_left_out_where_a_scheduler_ran_the_job(platform: Any, kept: bool) -> None:
    """Kubernetes may run on its machines."""
    assert concerns(Step("On Google Cloud, look."), Job(platform, [])) is kept


@pytest.mark.parametrize(
    ("command", "kept"),
    [
        ("kubectl describe pod POD | grep -A8 State", "kubectl -n ml describe pod POD | grep -A8 State"),
        ("kubectl get pods; kubectl logs POD", "kubectl -n ml get pods; kubectl -n ml logs POD"),
        ("kubectl get pods -A", "kubectl get pods -A"),
        ("kubectl get networkpolicy -A", "kubectl get networkpolicy -A"),
        ("kubectl describe node NODE", "kubectl describe node NODE"),
        ("kubectl cordon NODE", "kubectl cordon NODE"),
    ],
)
def test_a_command_of_kubernetes_names_the_namespace_that_the_files_state(command: str, kept: str) -> None:
    """Not where it names one, asks for all of them, or is about nodes."""
    assert for_job(Step("Look.", command), Job("kubernetes", [{}], "ml")) == Step("Look.", kept)


POD = """{
 "kind": "Pod",
 "metadata": {
  "name": "bert-worker-1",
  "namespace": "ml"
 }
}"""
FROM_PEER = """Additional GRPC error information from remote target /job:worker/replica:0/task:1 while calling /tensorflow.WorkerService/RecvBuf:
:UNKNOWN:Error received from peer  {grpc_status:14, grpc_message:"recvmsg:Connection reset by peer"}"""
LOST = f"""step 12 loss 0.5
E0000 00:00:1795225228.410204   26153 ring_alg.cc:291] Aborting RingReduce with UNAVAILABLE: recvmsg:Connection reset by peer
{FROM_PEER}
Traceback (most recent call last):
  File "/workspace/train.py", line 109, in <module>
    train()
tensorflow.python.framework.errors_impl.UnavailableError: Collective ops is aborted by: recvmsg:Connection reset by peer
{FROM_PEER}
"""


@pytest.mark.runs
@pytest.mark.parametrize(
    ("name", "more", "expected"),
    [
        ("worker-1.log", {"pods.json": POD}, "kubectl describe pod bert-worker-1 -n ml | grep -A8"),
        ("slurm-4711_1.out", {}, "sacct -j 4711 --format=JobID,State,ExitCode,MaxRSS,NodeList"),
        (f"{'3cd945e912aa':f<64}-json.log", {}, f"{STATE}3cd945e912aa;"),
        ("bert_worker-1_1-json.log", {}, f"{STATE}bert_worker-1_1;"),
        (
            "worker-1.log",
            {"collected_from.txt": "ssh\n"},
            "dmesg -T | grep -iE 'oom|killed process|segfault'",
        ),
        ("worker-1.log", {"collected_from.txt": "docker\n", "describe-worker-1.json": "[{}]"}, STATE),
        ("slurm-4711_1.out", {"collected_from.txt": "ssh\n"}, "sacct -j 4711 --format=JobID,State"),
        ("worker-1.log", {"up.log": "tf-worker-1-1 exited with code 137\n"}, f"{STATE}CONTAINER"),
        ("worker-1.log", {"vertex/workerpool1-2.log": "step 12 loss 0.5\n"}, "killed process"),
    ],
)
def test_the_files_state_platform_and_names(
    make_run: MakeRun, name: str, more: Mapping[str, str], expected: str
) -> None:
    """A description of pods, the name of Slurm's log, that of Docker's with the ID or name of the container.

    Of hosts that `mwms-collect` reached by ssh, it says so; they may belong to a scheduler all the same.
    """
    task = 'TF_CONFIG: {"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}}\n'
    run = make_run({"worker-0.log": LOST, name: f"{task}step 12 loss 0.5\n", **more})
    commands = [step["command"] for step in analyze([run]).document["next"]]
    assert any(expected in (each or "") for each in commands), commands
    assert not any("kubectl" in (each or "") for each in commands) or "kubectl" in expected


@pytest.mark.runs
@pytest.mark.parametrize(
    "more",
    [
        {"exit_codes.txt": "worker-1 137\n"},
        {"up.log": "the preprocessor exited with code 137\n"},
        {"pools/workerpool1.log": "step 12 loss 0.5\n"},
    ],
)
def test_without_a_platform_the_commands_of_each_are_shown(
    make_run: MakeRun, more: Mapping[str, str]
) -> None:
    """An exit code is not compose's by itself, nor a pool's name that of a replica of Vertex AI."""
    task = 'TF_CONFIG: {"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}}\n'
    run = make_run({"worker-0.log": LOST, "worker-1.log": f"{task}step 12 loss 0.5\n", **more})
    commands = " ".join(step["command"] or "" for step in analyze([run]).document["next"])
    assert "kubectl describe pod POD" in commands
    assert "docker" not in commands


@pytest.mark.runs
@pytest.mark.parametrize(
    ("last", "more", "expected"),
    [
        ("/var/spool/pbs/mom_priv/jobs/48213.pbs01.SC: line 14: 123 Aborted  python train.py", {}, "qstat -x -f 48213.pbs01; tracejob 48213.pbs01"),
        ("=>> PBS: job killed: walltime 3614 exceeded limit 3600", {}, 'qstat -x -f "$PBS_JOBID"; tracejob "$PBS_JOBID"'),
        ("Sender: LSF System <lsfadmin@gpu17>\nSubject: Job 48213: <python train.py> in cluster <hpc> Exited", {}, "bjobs -l 48213; bhist -l 48213"),
        ("bye", {"env-worker-0.txt": "PBS_JOBID=48213.pbs01\nTF_CPP_MIN_LOG_LEVEL=0\n"}, "qstat -x -f 48213.pbs01"),
        ("bye", {"env-worker-0.txt": "LSB_JOBID=48213\nTF_CPP_MIN_LOG_LEVEL=0\n"}, "bjobs -l 48213"),
    ],
)  # fmt: skip
def test_jobs_of_pbs_and_lsf_have_their_own_commands(
    make_run: MakeRun, last: str, more: Mapping[str, str], expected: str
) -> None:
    """Known by what they print, by the path of a job's script, or by their variables; none is of Slurm."""
    task = 'TF_CONFIG: {"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}}\n'
    run = make_run({"worker-0.log": f"{LOST}{last}\n", "worker-1.log": f"{task}step 12 loss 0.5\n", **more})
    commands = [step["command"] or "" for step in analyze([run]).document["next"]]
    assert any(expected in each for each in commands), commands
    assert not any("sacct" in each for each in commands)


@pytest.mark.runs
def test_reports_show_the_command(make_run: MakeRun) -> None:
    """From srun's own lines to the page and to text, with the name of the node masked where that is asked."""
    env = "HOSTNAME=cn03\nTF_CPP_MIN_LOG_LEVEL=1\nTF_ENABLE_ONEDNN_OPTS=0\n"
    logs = {"worker-0.log": "step 1 loss 0.5\n", "worker-1.log": f"step 1 loss 0.5\n{FAULT}"}
    run = make_run({**logs, "env-worker-1.txt": env, "slurm-7.out": SRUN})
    found = analyze([run], AnalysisOptions(redaction="topology")).document
    assert found["action"]["restart"] == {"scheduler": "slurm", "text": "sbatch --exclude=host-1 JOB.sh"}
    for name in ("html", "text", "jira"):
        assert "sbatch --exclude=host" in render(found, name).replace("\\", ""), name


def test_a_command_in_quotes_stays_whole() -> None:
    """Two lines of Python may begin alike, and names are filled in once for each worker."""
    first = """python -c 'import tensorflow as tf; print(tf.__version__)'"""
    both = f'{first}; python -c "import tensorflow as tf; print(\'a\\"; b\')"'
    assert [step.command for step in without_repeats([Step("a", both), Step("b", first)])] == [
        both.removeprefix(f"{first}; "),
        first,
    ]
    job = Job(None, [{"HOST": "a"}, {"HOST": "b"}])
    told = for_job(Step("a", "python -c 'import x; x.call(\"HOST\")'; df"), job)
    assert told.command == """python -c 'import x; x.call("a")'; python -c 'import x; x.call("b")'; df"""


def test_no_command_is_printed_twice() -> None:
    """A later step keeps its own; a step that has no other command keeps it, too."""
    steps = [
        Step("a", command="dmesg; sacct -j 1"),
        Step("b", command="sacct -j 1"),
        Step("c"),
        Step("d", command="df"),
    ]
    shown = [step.command for step in without_repeats(steps)]
    assert shown == ["dmesg", "sacct -j 1", None, "df"]
    assert [step.command for step in without_repeats([Step("a", command="df"), Step("b", command="df")])] == [
        "df",
        "df",
    ]
