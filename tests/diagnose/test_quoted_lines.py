"""The lines that a diagnosis quotes are those whose words prove what it says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from analyzer.pipeline import analyze

pytestmark = pytest.mark.runs

BARS = (
    "Epoch 1/5\n 20/120 [====>.........................] - ETA: 20s - loss: 2.2655 - accuracy: 0.7831\n"
    " 40/120 [=========>....................] - ETA: 16s - loss: 2.2315 - accuracy: 0.7133\n"
)


def lost(task: int) -> str:
    """The log of a worker that lost another one after the same steps."""
    return (
        f"{BARS}2026-11-21 01:00:30.5: E tensorflow/core/common_runtime/ring_alg.cc:291] Aborting RingReduce "
        "with UNAVAILABLE: Socket closed\nAdditional GRPC error information from remote target "
        f"/job:worker/replica:0/task:{task} while calling /tensorflow.WorkerService/RecvBuf:\n"
        "Traceback (most recent call last):\n"
        '  File "/workspace/train.py", line 109, in <module>\n    train()\n'
        "tensorflow.python.framework.errors_impl.UnavailableError: Collective ops is aborted by: Socket closed\n"
    )


Quoted = Callable[[Mapping[str, str]], tuple[Any, dict[str, tuple[int | None, str | None]]]]


@pytest.fixture
def quoted(make_run: Callable[[Mapping[str, str]], Path]) -> Quoted:
    """Return the first finding's document with what its evidence says → (line, excerpt)."""

    def quote(files: Mapping[str, str]) -> tuple[Any, dict[str, tuple[int | None, str | None]]]:
        document = analyze([make_run(files)]).document
        evidence = [each for finding in document["findings"] for each in finding["evidence"]]
        return document, {each["says"]: (each["line"], each["excerpt"]) for each in evidence}

    return quote


def test_a_sigterm_is_quoted_in_the_words_of_the_worker(quoted: Quoted) -> None:
    """Its last progress bar proves nothing."""
    ends = "Received SIGTERM, shutting down\n"
    document, quotes = quoted({"worker-0.log": BARS + ends, "worker-1.log": lost(0)})
    assert document["cause"] == "peer.preempted"
    assert quotes["worker:0 logged that it caught SIGTERM"] == (4, ends.strip())


STACK = (
    "Fatal Python error: Segmentation fault\n\nThread 0x01 (most recent call first):\n"
    '  File "/app/input.py", line 7 in wait\n\n'
    'Current thread 0x02 (most recent call first):\n  File "/app/augment.py", line 22 in crop\n'
)


def test_the_frame_of_the_crashed_thread_is_quoted(quoted: Quoted) -> None:
    """Other threads only happened to run; the handler that printed it need not be switched on."""
    document, quotes = quoted({"worker-0.log": lost(1), "worker-1.log": BARS + STACK})
    assert document["cause"] == "peer.crashed"
    assert quotes["its Python code was in crop, /app/augment.py line 22"][0] == 10
    assert "PYTHONFAULTHANDLER" not in str(document["next"])


@pytest.mark.parametrize(
    "stack",
    [
        STACK.partition("\nCurrent")[0].replace("\n\nThread", "\n\nThread 0x03 (most recent call first):\n"
        '  File "/app/log.py", line 3 in write\n\nThread'),
        "Segmentation fault (core dumped)\n",
    ],
    ids=["no thread is the current one", "no dump"],
)  # fmt: skip
def test_no_frame_is_quoted_where_none_is_known_to_have_crashed(stack: str, quoted: Quoted) -> None:
    """Any of several threads can have been the one."""
    document, quotes = quoted({"worker-0.log": lost(1), "worker-1.log": BARS + stack})
    assert document["cause"] == "peer.crashed"
    assert not [says for says in quotes if says.startswith("its Python code")]


def test_a_log_that_tells_of_a_crash_does_not_end_without_an_error(quoted: Quoted) -> None:
    """Neither does one that ends with a check that failed."""
    check = (
        "2026-11-20 10:07:39.970011: F external/local_xla/xla/stream_executor/cuda/cuda_driver.cc:146] Failed "
        "setting context: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered\n"
    )
    for ends in (check, "Aborted (core dumped)\n"):
        _, quotes = quoted({"worker-0.log": lost(1), "worker-1.log": BARS + ends})
        assert "the log of worker:1 ends without an error" not in quotes
    _, quotes = quoted({"worker-0.log": lost(1), "worker-1.log": BARS})
    assert "the log of worker:1 ends without an error" in quotes
