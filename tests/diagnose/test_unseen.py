"""What is said of a worker whose files were not handed over."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from analyzer.ingest import source_reader
from analyzer.ingest.reader_output import SourceRows
from analyzer.model.source_kinds import Kind
from analyzer.pipeline import analyze
from analyzer.render import render

pytestmark = pytest.mark.runs

CONFIG = '{"cluster": {"worker": ["10.0.0.1:2222", "10.0.0.2:2222"]}, "task": {"type": "worker", "index": 0}}'


def test_no_place_in_training_is_claimed_for_it(make_run: Callable[[Mapping[str, str]], Path]) -> None:
    """Where it stood, its own files would tell."""
    run = make_run({"worker-0.log": "step 1 loss 0.5\nstep 2 loss 0.4\n", "tf_config-0.json": CONFIG})
    document = analyze([run]).document
    assert document["verdict"] == "inconclusive"
    (about,) = [text for text in document["why"] if text.startswith("worker:1")]
    assert "left no file at all" in about
    assert "step" not in about


def test_a_log_that_cannot_be_read_lowers_the_confidence(
    make_run: Callable[[Mapping[str, str]], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may show an earlier failure; the first lines of a report name it."""
    raised = 'Traceback (most recent call last):\n  File "t.py", line 1, in <module>\nKeyError: "label"\n'
    lost = (
        "2026-11-21 01:00:30.5: E tensorflow/core/common_runtime/ring_alg.cc:291] Aborting RingReduce with "
        "UNAVAILABLE: Connection reset by peer\nAdditional GRPC error information from remote target "
        "/job:worker/replica:0/task:0 while calling /tensorflow.WorkerService/RecvBuf:\n"
        ':{"created":"@1795222830.5","description":"Error received from peer","grpc_status":14}\n'
    )
    steps = "step 1 loss 0.5\nstep 2 loss 0.4\n"
    run = make_run({"worker-0.log": steps + raised, "worker-1.log": "step 1\n", "worker-2.log": steps + lost})
    read = source_reader._read

    def refused(output: SourceRows, *rest: Any) -> list[SourceRows]:
        if output.source.kind is Kind.LOG and output.source.name == "worker-1.log":
            raise PermissionError(13, "Permission denied")
        return read(output, *rest)

    sure = analyze([run]).document["confidence"]
    monkeypatch.setattr(source_reader, "_read", refused)
    document = analyze([run]).document
    assert document["cause"] == "user.exception"
    assert document["confidence"] == 0.78 < sure
    for kind in ("text", "markdown", "html"):
        assert "worker-1.log cannot be read" in render(document, kind)


@pytest.mark.parametrize(("logs", "owner"), [(2, "data"), (1, "unknown")])
def test_the_owner_of_a_cause_is_unknown_where_a_missing_log_decides_it(
    logs: int, owner: str, make_run: Callable[[Mapping[str, str]], Path]
) -> None:
    """A loss that became NaN on one worker first is its data's; of one worker alone nobody can tell."""
    steps = "".join(f"step {n} loss 0.{n}5\n" for n in range(1, 6))
    texts = {"worker-1.log": f"{steps}step 6 loss nan\n", "worker-0.log": steps.replace("5\n", "7\n")}
    texts["worker-0.log"] += "step 6 loss 0.4\nstep 7 loss nan\n"
    run = make_run({**dict([*texts.items()][:logs]), "tf_config-0.json": CONFIG})
    document = analyze([run]).document
    assert (document["cause"], document["action"]["owner"]) == ("numeric.nan_loss", owner)


@pytest.mark.parametrize("kind", ["text", "markdown", "html"])
def test_a_worker_without_files_is_named(kind: str, make_run: Callable[[Mapping[str, str]], Path]) -> None:
    """In every report that people read."""
    run = make_run({"worker-0.log": "step 1 loss 0.5\nstep 2 loss 0.4\n", "tf_config-0.json": CONFIG})
    assert "no file of worker:1" in render(analyze([run]).document, kind).partition("Evidence")[0]


@pytest.mark.parametrize("kind", ["text", "markdown", "html"])
def test_a_worker_with_other_files_lacks_its_log(
    kind: str, make_run: Callable[[Mapping[str, str]], Path]
) -> None:
    """As where the collection of its log failed."""
    other = CONFIG.replace('"index": 0', '"index": 1')
    assert other != CONFIG
    log = "step 1 loss 0.5\nstep 2 loss 0.4\n"
    run = make_run({"worker-0.log": log, "tf_config-0.json": CONFIG, "tf_config-worker-1.json": other})
    top = render(analyze([run]).document, kind).partition("Evidence")[0]
    assert "no log of worker:1" in top
    assert "no file of" not in top


def test_a_log_whose_worker_is_guessed_may_be_of_one_that_is_missing(
    make_run: Callable[[Mapping[str, str]], Path],
) -> None:
    """As a pasted tail; a log that names its worker is of no other one."""
    lost = (
        "step 2 loss 0.4\nTraceback (most recent call last):\n"
        "tensorflow.python.framework.errors_impl.UnavailableError: Collective ops is aborted by: Socket closed\n"
        "Additional GRPC error information from remote target /job:worker/replica:0/task:1 while calling "
        "/tensorflow.WorkerService/RecvBuf:\n"
    )
    guess = "no file of worker:1 (tail.txt is taken for worker:0, guessed by"
    assert guess in " ".join(render(analyze([make_run({"tail.txt": lost})]).document, "text").split())
    (tmp := make_run({"worker-0.log": lost}) / "tail.txt").unlink()
    assert "guessed" not in render(analyze([tmp.parent]).document, "text")


def test_a_process_alone_is_told_as_one(make_run: Callable[[Mapping[str, str]], Path]) -> None:
    """It has no others to compare with, and its host is known."""
    raised = (
        'Traceback (most recent call last):\n  File "/workspace/train.py", line 4, in <module>\nKeyError: 1\n'
    )
    start = {
        "event": "recording",
        "time": 1.8e9,
        "monotonic": 5.0,
        "schema": "mwms-recording/1",
        "host": "gpu7",
    }
    start |= {
        "task": "gpu7",
        "task_from": "host",
        "streams": {"stdout": "stdout.log", "stderr": "stderr.log"},
    }
    end = {"event": "end", "time": 1.8e9 + 9, "monotonic": 14.0, "exit_code": 1, "signal": None}
    log = "".join(f"step {step} loss 0.5\n" for step in range(1, 10))
    recording = f"{json.dumps(start)}\n{json.dumps(end)}\n"
    run = make_run({"gpu7/recording.jsonl": recording, "gpu7/stdout.log": log, "gpu7/stderr.log": raised})
    document = analyze([run]).document
    text = render(document, "text")
    assert document["cause"] == "user.exception"
    assert "on gpu7" in text
    assert "worker:0 reached step 9" in text
    assert "all workers" not in text
    assert "did not raise it" not in text


def test_a_damaged_archive_comes_before_all_advice(
    make_run: Callable[[Mapping[str, str]], Path], tmp_path: Path
) -> None:
    """A second copy may hold what explains the run; a rule would not."""
    texts = {f"worker-{n}.log": f"step 1 loss 0.{n}\n" * 2_000 for n in range(3)}
    whole, cut = tmp_path / "whole.tar", tmp_path / "cut.tar"
    with tarfile.open(whole, "w") as archive:
        archive.add(make_run({**texts, "exit_codes.txt": "worker-0 1\nworker-1 1\n"}), "run")
    cut.write_bytes(whole.read_bytes()[:60_000])
    document = analyze([cut]).document
    assert [step["text"].split(",")[0] for step in document["next"]] == ["Copy cut.tar again"]
    assert "part of cut.tar, which is damaged: copy it again" in " ".join(render(document, "text").split())
