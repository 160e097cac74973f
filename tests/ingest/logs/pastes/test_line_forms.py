"""The form of a line says whether a program printed it."""

from __future__ import annotations

import pytest

from analyzer.ingest.logs.pastes.line_forms import SENTENCE_WORDS, Form, form


@pytest.mark.parametrize(
    "line",
    [
        "2026-11-21 01:40:37.754266: E ring_alg.cc:290] This is what I would call a mistake, is it not?",
        "what do I see:   0%|     | 0/9 [00:00<?, ?it/s]\rwhat do I see: 100%|█████| 9/9 [00:01<00:00, 7.1it/s]",
        "ValueError: I can not find the file that you may be looking for",
        "INFO:tensorflow:Do you want to continue?",
        "[1,0]<stderr>: there is no route to host that I can use from here",
        "host:3:5 [1] NCCL WARN Call to connect returned Connection refused",
        "python: can't open file 'train.py': [Errno 2] No such file or directory",
        "Collective ops is aborted by: Device /job:worker/replica:0/task:0 is joining a group with size 2",
        "During handling of the above exception, another exception occurred:",
        "$ grep -c 'I do not know' worker-0.log and nothing else",
        'Attr "_device" of node "x" is "/job:worker/replica:0/task:0/device:GPU:0"',
        "18/04/03 10:24:43 WARN yarn.YarnAllocator: Container killed by YARN for exceeding memory limits.",
        "2. Error on worker-0: **NotFoundError (see above for traceback): /train/model.ckpt-0_temp_5f/part-0**",
        "- worker 1: **ValueError: the shapes of the two inputs do not fit**",
        "Warning  Evicted    109s  kubelet    The node was low on resource: memory.",
        "012 (4711.001.000) 2026-11-21 10:31:02 Job was held.",
        "Error from slot1_3@gpu17: Job has gone over memory limit of 65536 megabytes. Peak usage: 65712 megabytes.",
        "mpirun noticed that process rank 3 with PID 8123 on node gpu-2 exited on signal 9 (Killed).",
        "MPI_ABORT was invoked on rank 2 in communicator MPI_COMM_WORLD",
        "Primary job  terminated normally, but 1 process returned",
        "There are not enough slots available in the system to satisfy the 8",
        "Container killed by YARN for exceeding memory limits. 5.5 GB of 5.5 GB physical memory used.",
        "Memory cgroup out of memory: Killed process 4711 (python) and its children",
        "The actor is dead because its node has died.",
        "段错误 (核心已转储)",
        "go.sh: 行 7: 20412 已杀死               python3 -u learn.py",
        "Error: No such option: --rat Did you mean --rate?",
        "│ What is the name of the option that I would have to give here?  │",
        "objc[41213]: We cannot safely call it in the child process. Crashing instead.",
        "\r训练:  22%|███     | 27/120 [00:01<00:05, 17.97it/s][INFO 11-27 11:16:46.015 robot] 第 40 步 / 共 120 步，损失 0.00009",
        "[信息] 第 3/10 轮 经验 144 损失 0.13121 平均奖励 0.2144",
    ],
)
def test_a_program_printed_it(line: str) -> None:
    """Whatever its words are."""
    assert form(line, SENTENCE_WORDS) is Form.PRINTED


@pytest.mark.parametrize(
    "line",
    [
        "I first thought it was the OOM that others report.",
        "I had it once: **ValueError: the shapes of the two inputs do not fit**",
        "Could it be a killed worker?",
        "mpirun noticed that my rank 3 is gone, and I can not find out why",
        "Worker exited prematurely: signal 9 (SIGKILL), what does it mean?",
        "我的训练到第 3/10 轮，损失 0.13121 以后就停住了，怎么办？",
        "Zuerst dachte ich, der Speicher ist voll (CUDA_ERROR_OUT_OF_MEMORY).",
        "Al principio pensé que era la memoria, pero no es eso.",
        "Сначала я думал, что не хватает памяти",
        "之前显存不够（OOM when allocating tensor），现在没有了。",
        "[09:14] Karim: exit code 137 in the UI",
        "12/03/2024, 22:41 - Samir: not oom this time",
        "<sam> killed by slurm",
        "On Tue, Mar 3, 2020 at 4:11 PM Meera wrote:",
        "Subject: Re: worker killed",
        "<p>The worker was killed.</p>",
        '[quote="helper, post:4, topic:18"]',
    ],
)
def test_a_person_says_it(line: str) -> None:
    """In any language, or in a chat, a mail or a page."""
    assert form(line, SENTENCE_WORDS) is Form.SPOKEN


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("The worker failed to load the data, giving up", Form.SENTENCE),
        ("- [x] searched the existing issues", Form.TITLE),
        ("* new data, the old one had `DataLossError: corrupted record`", Form.TITLE),
        (
            'There was a bug by which training would often fail with "Collective ops is aborted by: '
            '/job:worker/replica:0/task:0 is down"',
            Form.SENTENCE,
        ),
        ("#2210 (NaN loss)", Form.OTHER),
        ("### worker 1", Form.OTHER),
        ("worker 1 says:", Form.OTHER),
        ("Killed", Form.OTHER),
        ("   ", Form.BLANK),
    ],
)
def test_other_forms_leave_it_open(line: str, what: Form) -> None:
    """A heading that names a worker is none of a person's titles."""
    assert form(line, SENTENCE_WORDS) is what
