"""A file into which somebody put the logs of several workers is split at its headings."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from analyzer.ingest.logs.collectors.headings import stream_below
from analyzer.ingest.logs.collectors.streams import Stream, detect_style, split_streams
from analyzer.model.run import Tables

TablesOf = Callable[[Mapping[str, str]], Tables]


def streams(*lines: str) -> list[Stream]:
    """The streams of a file with these lines."""
    return split_streams(list(enumerate(lines, 1)), detect_style(lines))


@pytest.mark.parametrize(
    ("line", "stream"),
    [
        ("### node B (worker 1)", "worker-1"),
        ("[gpu-b10 / TF_CONFIG index 2]", "task-2"),
        ("=== host a (rank 0) ===", "rank-0"),
        ("**Worker 3**", "worker-3"),
        ("chief:", "chief"),
        ("ps says:", "ps-0"),
        ("worker:", "worker-0"),
        ("### On the worker", "worker-0"),
        ("workers:", None),
        ("each worker says:", None),
        ("<summary>log of worker 0</summary>", "worker-0"),
        ("<details><summary><b>Worker 1</b> output:</summary>", "worker-1"),
        ("<details><summary>Click to expand!</summary>", None),
        ("### Parameter server", "ps-0"),
        ("**Log of the evaluator:**", "evaluator-0"),
        ("==> logs/worker-4.txt <==", "worker-4"),
        ("==> /var/log/train/cn203.log <==", "train/cn203"),
        ("==> 3 of 4 epochs <==", None),
        ("[!error]- worker-2", "worker-2"),
        ("[!NOTE] lr = 3 of worker 1", None),
        ("Container: container_e17_1764_0042_01_000002 on cn034_45454", "cn034/container_000002"),
        ("[3] 13:05:21 [FAILURE] gpu-c Exited with error code 1", "gpu-c"),
        ("[1] 13:05:20 [SUCCESS] gpu-a", "gpu-a"),
        ("gpu-a | FAILED | rc=1 >>", "gpu-a"),
        ("gpu-a | SUCCESS => {", None),
        ("server1 (10.0.0.4, task 0)", "task-0"),
        ("machine 2:", "machine-2"),
        ("user_logs/std_log_process_1.txt:", "process-1"),
        ("process 4711:", None),
        ('me@login1:~$ bpeek "7312[2]"', "task-1"),
        ("$ bpeek -f 7312[1]", "task-0"),
        ("$ bpeek 7312", None),
        ("$ kubectl -n ml logs fit-worker-1 --tail=5", "worker-1"),
        ("me@login1:~$ kubectl logs --previous fit-worker-1", "worker-1-previous"),
        ("$ k get po | grep fit", "get-pods"),
        ("worker 1 $ py-spy dump --pid 1", "py-spy-worker-1"),
        ("[me@fit-worker-2 ~]$ ./run.sh", "worker-2"),
        ("docker logs fit-ps-0", "ps-0"),
        ("$ kubectl get pods", "get-pods"),
        ("$ kubectl get tfjob", "get"),
        ("kubectl describe po fit-worker-1 | tail", "describe-worker-1"),
        ("kubectl describe pod fit-master-3ti2-0-9st9r", "describe-master"),
        ("sacct -j 81277 -o jobid,state", "sacct"),
        ("# worker 0 (chief)", "worker-0"),
        ("**worker-0 [the chief]:**", "worker-0"),
        ("NAME        READY   STATUS    RESTARTS   AGE", "get-pods"),
        ("docker logs registry", ""),
    ],
)
def test_titles_and_commands_are_headings(line: str, stream: str) -> None:
    """They say whose output follows, or which command printed it."""
    assert stream_below(line) == stream


@pytest.mark.parametrize(
    "line",
    [
        "",
        "Process ForkPoolWorker-1:",
        "2024-01-22 05:14:31.3: I grpc_server_lib.cc:457] Started server with target: grpc://worker-1:2222",
        "worker 0 waits for worker 1:",
        "the ps and the evaluator:",
        "https:",
        "INFO:tensorflow:Waiting for worker 1:",
        "Epoch 1/3",
        "100/100 [==============================] - 12s 110ms/step - loss: 0.8123",
        '{"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}}',
        "--task_index=0",
        "    PS:",
        "  Evaluator:",
        "chief and worker 1:",
        "NAME   STATUS   AGE",
        "$ dmesg -T | tail",
        "$ py-spy dump --pid 1",
        "/job:worker/replica:0/task:1",
        "rank 0 INFO Using MirroredStrategy with devices ('/job:worker/task:0/device:CPU:0',)",
        "Everything is fine on worker 1 and then after some time it says this and stops:",
    ],
)
def test_lines_of_a_log_are_no_headings(line: str) -> None:
    """Nor is a sentence that names two workers, or many words."""
    assert stream_below(line) is None


def test_the_lines_below_a_heading_are_of_its_task() -> None:
    """What is asked on a host stays with its worker; a listing of the job is of nobody."""
    lines = ("hangs since noon", "# worker 0", "a", "$ dmesg | tail", "b", "# worker 1", "c", "$ squeue", "d")
    found = {stream.key: [number for number, _ in stream.lines] for stream in streams(*lines)}
    assert found == {None: [1], "squeue": [8, 9], "worker-0": [2, 3, 4, 5], "worker-1": [6, 7]}


LISTED = ["NAME          READY   STATUS   RESTARTS   AGE", "fit-worker-0  0/1     Error    0          68m"]


@pytest.mark.parametrize(
    ("asked", "below"),
    [("$ kubectl get pods fit-worker-0", "worker-0"), ("$ kubectl get pods", None), (None, None)],
)
def test_a_log_below_the_list_of_pods_is_none_of_its_rows(asked: str | None, below: str | None) -> None:
    """It is of the task that was asked for, if any."""
    raised = ["Traceback (most recent call last):", '  File "a.py", line 1, in <module>', "KeyError: 'label'"]
    lines = ["$ kubectl logs fit-chief-0", "step 1 loss 0.5", *filter(None, [asked]), *LISTED, *raised]
    found = {stream.key: [line for _, line in stream.lines] for stream in streams(*lines)}
    assert found[below] == raised
    (listed,) = (name for name in found if name and name.startswith("get-pods"))
    assert found[listed][-2:] == LISTED


def test_what_describes_a_pod_may_hold_an_error() -> None:
    """Its lines are indented."""
    said = [
        "$ kubectl describe pod fit-worker-0",
        "    Message:  Traceback (most recent call last):",
        "    Exit Code: 1",
    ]
    found = {stream.key: len(stream.lines) for stream in streams("# worker 1", "step 1 loss 0.5", *said)}
    assert found == {"worker-1": 2, "describe-worker-0": 3}


def test_a_single_heading_does_not_split_a_file() -> None:
    """It may as well be a line of the log."""
    assert [stream.key for stream in streams("a", "# worker 0", "b", "c", "worker 0:", "d")] == [None]


def test_prefixes_count_more_than_headings() -> None:
    """Where each line says who wrote it, a title in between is the program's."""
    assert [stream.key for stream in streams("[rank0]: a", "[rank1]: # worker 1", "[rank0]: # worker 0")] == [
        "rank0",
        "rank1",
    ]


def test_what_a_command_printed_is_read_as_such(tables_of: TablesOf) -> None:
    """An exit code in a pod's description and a stack of py-spy are facts of their worker."""
    paste = """# worker 0
$ py-spy dump --pid 1   # on worker 0
Process 1: python train.py
Python v3.10.12 (/usr/bin/python3.10)

Thread 1 (idle): "MainThread"
    read (ssl.py:1159)
    main (train.py:144)
$ kubectl describe pod fit-worker-1
Name:         fit-worker-1
Containers:
  tensorflow:
    State:          Terminated
      Exit Code:    143
"""
    facts = tables_of({"paste.txt": paste})["facts"].select("source", "worker", "key", "value").rows()
    assert (
        "paste.txt#py-spy-worker-0",
        "worker:0",
        "stands_outside_tensorflow",
        "read (ssl.py:1159), called from main (train.py:144)",
    ) in facts
    assert ("paste.txt#describe-worker-1", "worker:1", "exit_code", "-15") in facts
