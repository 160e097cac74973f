"""Records of schedulers, supervisors and container runtimes state how each task ended."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from analyzer.model.run import Tables

TablesOf = Callable[[Mapping[str, str]], Tables]
IDS = ["3f" * 32, "a7" * 32]
QUIET = "step 1 loss 0.5\nstep 2 loss 0.4\n"


def pbs(job: int, status: int, hosts: str = "") -> str:
    """A job of `qstat -xf`."""
    return f"Job Id: {job}.pbs01\n    Job_Name = bert\n    exec_host = {hosts or f'gpu{job}/0*4'}\n    Exit_status = {status}\n"


def qacct(task: int, status: str) -> str:
    """A task of an array of jobs of Grid Engine."""
    return f"{'=' * 62}\nqname        gpu.q\nhostname     gpu2{task}\njobnumber    7312\ntaskid       {task}\nexit_status  {status}\n"


def ads(process: int, how: str) -> str:
    """The ClassAd of a job of HTCondor."""
    return f'ClusterId = 4471\nProcId = {process}\nErr = "job.4471.{process}.err"\n{how}\nLastRemoteHost = "slot1@gpu2{process}"\n'


def bjobs(task: int, how: str) -> str:
    """A job of LSF's array as `bjobs -l` shows it, which breaks lines at 80 characters."""
    told = f"Sat Nov 21 01:41:00: {how}. The CPU time used is 61.2 seconds."
    return f"Job <7312[{task}]>, Job Name <bert[1-2]>, User <anna>, Status <EXIT>\n{told[:38]}\n{' ' * 21}{told[38:]}\n"


def unit(code: int, status: int) -> str:
    """A service as `systemctl show` describes it."""
    return f"Type=simple\nMainPID=0\nExecMainPID=4711\nExecMainCode={code}\nExecMainStatus={status}\nId=bert.service\n"


def shown(how: str) -> str:
    """A service as `systemctl status` shows it."""
    return f"× bert.service - BERT\n     Loaded: loaded (/etc/systemd/system/bert.service)\n     Active: failed\n   Main PID: 4711 ({how})\n"


def container(name: str, code: int, **more: object) -> dict[str, object]:
    """A container as `docker inspect` describes it."""
    state = {"Status": "exited", "Running": False, "ExitCode": code, "Health": {"Log": [{"ExitCode": 1}]}}
    return {"Id": name, "State": state, "Name": f"/{name[:2]}", **more}


RECORDS = {
    "PBS": (["bert.o73110", "bert.o73111"], {"qstat-xf.txt": pbs(73110, 1) + "\n" + pbs(73111, 265)}),
    "Grid Engine": (
        ["bert.e7312.1", "bert.e7312.2"],
        {"qacct.txt": qacct(1, "1") + qacct(2, "137                  (Killed)")},
    ),
    "HTCondor": (
        ["job.4471.0.err", "job.4471.1.err"],
        {
            "condor_history.ads": ads(0, "ExitBySignal = false\nExitCode = 1")
            + "\n" + ads(1, "ExitBySignal = true\nExitSignal = 9")
        },
    ),
    "LSF": (
        ["bert.7312.1.err", "bert.7312.2.err"],
        {"bjobs-l.txt": bjobs(1, "Exited with exit code 1") + "\n" + bjobs(2, "Exited by signal 9")},
    ),
    "Slurm, a job a worker": (
        ["bert-73120.out", "bert-73121.out"],
        {
            f"scontrol-7312{n}.txt": f"JobId=7312{n} JobName=bert\n   JobState=FAILED Reason=NonZeroExitCode\n   ExitCode={code}\n"
            for n, code in enumerate(("1:0", "0:9"))
        },
    ),
    "systemctl show": (
        ["alder/train.log", "birch/train.log"],
        {"alder/systemctl-show.txt": unit(1, 1), "birch/systemctl-show.txt": unit(2, 9)},
    ),
    "systemctl status": (
        ["alder/train.log", "birch/train.log"],
        {
            "alder/status.txt": shown("code=exited, status=1/FAILURE"),
            "birch/status.txt": shown("code=killed, signal=KILL"),
        },
    ),
    "docker inspect": (
        [f"{IDS[0]}/{IDS[0]}.log", f"{IDS[1][:12]}.log"],
        {"docker-inspect.json": json.dumps([container(IDS[0], 1), container(IDS[1], 137)])},
    ),
    "podman ps": (
        ["alder.log", "birch.log"],
        {
            "podman-ps.json": json.dumps(
                [{"Names": [n], "ExitCode": c, "Exited": True} for n, c in (("alder", 1), ("birch", 137))]
            )
        },
    ),
    "Nomad": (
        ["ab12/alloc/logs/train.stderr.0", "cd34/alloc/logs/train.stderr.0"],
        {
            f"{alloc}/status.json": json.dumps(
                {"ID": alloc, "ClientStatus": "failed", "TaskStates": {"train": {"Events": [
                    {"Type": "Started", "ExitCode": 0}, {"Type": "Terminated", "ExitCode": code}]}}}
            )
            for alloc, code in (("ab12", 1), ("cd34", 137))
        },
    ),
    "AWS Batch": (
        ["bert_default_13029f9e83d1.log", "88bb.log"],
        {
            "describe-jobs.json": json.dumps(
                {
                    "jobs": [
                        {"jobId": f"x#{n}", "jobName": "bert", "container": {"exitCode": code, "logStreamName": f"bert/default/{stream}"}}
                        for n, (code, stream) in enumerate(((1, "13029f9e83d1"), (137, "88bb")))
                    ]
                }
            )
        },
    ),
}  # fmt: skip


def codes(tables: Tables) -> list[tuple[str, str]]:
    """Worker and exit code, as they are stated."""
    facts = tables["facts"].filter(tables["facts"]["key"] == "exit_code")
    return sorted(facts.select("worker", "value").iter_rows())


def logs_of(names: list[str]) -> dict[str, str]:
    """A log for each name, of the task of its place."""
    spec = "cluster_spec = {'worker': ['alder:2222', 'birch:2222']}"
    said = "2026-11-21 01:40:37,000 - INFO - MultiWorkerMirroredStrategy with {}, task_type = 'worker', task_id = {}, num_workers = 2\n"
    return {name: said.format(spec, task) + QUIET for task, name in enumerate(names)}


@pytest.mark.parametrize(("logs", "files"), RECORDS.values(), ids=RECORDS)
def test_each_task_has_the_exit_code_of_its_record(
    logs: list[str], files: dict[str, str], tables_of: TablesOf
) -> None:
    """By the job, the container, the host or the file of output that the log's name has."""
    assert codes(tables_of({**logs_of(logs), **files})) == [("worker:0", "1"), ("worker:1", "-9")]


@pytest.mark.parametrize(
    ("logs", "files"),
    [
        (["bert.o73110", "bert.o73111"], {"qstat-f.txt": pbs(73110, 137)}),
        (["gpu1/a.log", "gpu2/b.log"], {"qstat-f.txt": pbs(9, 1, "gpu1/0*4+gpu2/0*4")}),
        (["bert.o73110", "bert.o73111"], {"qstat-f.txt": pbs(73110, -3) + "\n" + pbs(73111, -3)}),
        (["bert.log", "other.log"], {"podman-ps.json": '[{"Names": ["bert"], "ExitCode": 0, "Exited": false}]'}),
        (["gpu1/a.log", "gpu2/b.log"], {"gpu1/status.txt": shown("code=exited, status=0/SUCCESS").replace("bert", "nvidia-fabricmanager")}),
        (["gpu1/a.log", "gpu2/b.log"], {"gpu1/show.txt": unit(2, 9).replace("bert", "kubelet")}),
        (["birch.log", "cedar.log"], {"docker-inspect.json": json.dumps([{"Name": "birch", "State": {"Running": True, "ExitCode": 0}}])}),
        (["birch.log", "cedar.log"], {"docker-inspect.json": json.dumps([{"Name": "birch", "State": {"ExitCode": n}} for n in (0, 1)])}),
    ],
    ids=["one job for all", "a job on two hosts", "a job that never ran", "still running", "a service of the host", "one of Kubernetes", "running", "two of a name"],
)  # fmt: skip
def test_a_record_that_tells_of_no_single_task_tells_nothing(
    logs: list[str], files: dict[str, str], tables_of: TablesOf
) -> None:
    """The exit code of a job may be that of the launcher of all its tasks."""
    assert codes(tables_of({**logs_of(logs), **files})) == []


@pytest.mark.parametrize(
    ("ended", "told"),
    [
        ({"State": {"ExitCode": 137, "OOMKilled": True}}, ["worker:1"]),
        ({"State": {"ExitCode": 137, "OOMKilled": False}}, []),
        ({"exitCode": 137, "reason": "OutOfMemoryError: Container killed due to memory usage"}, ["worker:1"]),
        ({"exitCode": 1, "reason": "CannotPullContainerError: pull image manifest has been retried"}, []),
    ],
)
def test_a_runtime_says_that_it_killed_for_memory(
    ended: dict[str, object], told: list[str], tables_of: TablesOf
) -> None:
    """Docker by a flag, AWS by a reason."""
    inspected = {"docker-inspect.json": json.dumps([{"Name": "/birch", **ended}])}
    facts = tables_of({**logs_of(["alder.log", "birch.log"]), **inspected})["facts"]
    assert facts.filter(key="out_of_memory")["worker"].to_list() == told


def test_a_name_that_states_a_task_is_that_task(tables_of: TablesOf) -> None:
    """Its log may have another name, or be lost."""
    listed = json.dumps([{"Names": ["bert-worker-3"], "ExitCode": 137, "Exited": True}])
    assert codes(tables_of({"worker-0.log": QUIET, "podman-ps.json": listed})) == [("worker:3", "-9")]


@pytest.mark.parametrize("line", ["Exit Value:       267", "Exit_status=267"])
def test_the_epilogue_of_pbs_states_a_signal(line: str, tables_of: TablesOf) -> None:
    """PBS adds 256 to its number."""
    assert codes(tables_of({"worker-1.log": QUIET + line + "\n"})) == [("worker:1", "-11")]


def test_a_list_of_names_and_codes_is_no_record(tables_of: TablesOf) -> None:
    """JSON of a user's launcher has a number a worker."""
    assert codes(tables_of({"exit_codes.json": '{"worker-0": 1, "worker-1": 137}'})) == [
        ("worker:0", "1"),
        ("worker:1", "-9"),
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("status.json", '{"workers": [{"index": 0, "exit_code": 1}, {"index": 1, "exit_code": 137}]}'),
        ("result.json", '{"worker_0": {"returncode": 1, "s": 9.5}, "worker_1": {"returncode": -9, "s": 8.1}}'),
        ("summary.json", '[{"type": "worker", "index": 0, "returncode": 1}, {"type": "worker", "index": 1, "returncode": -9}]'),
        ("meta.json", '{"framework": "tensorflow 2.15", "exit_codes": {"0": 1, "1": 137}}'),
        ("exits.jsonl", '{"rank": 0, "returncode": 1}\n{"rank": 1, "returncode": -9}\n'),
    ],
)  # fmt: skip
def test_json_of_a_users_launcher(name: str, text: str, tables_of: TablesOf) -> None:
    """Tasks by their names, by their indices, or by their ranks."""
    logs = {f"worker-{index}.log": QUIET for index in range(2)}
    assert codes(tables_of({**logs, name: text})) == [("worker:0", "1"), ("worker:1", "-9")]


@pytest.mark.parametrize(
    "text",
    [
        '{"index": 1, "accuracy": 0.5, "returned": 137}',
        '{"workers": 2, "exit_code": true}',
        '{"worker": 1, "message": "leaving", "exit_code": 137, "log": "a"}',
    ],
)
def test_other_json_states_no_exit_code(text: str, tables_of: TablesOf) -> None:
    """Results of a training, a flag, an entry of a log."""
    assert codes(tables_of({"worker-0.log": QUIET, "result.json": text})) == []
