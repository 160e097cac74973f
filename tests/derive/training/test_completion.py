"""Lines that report the end of the training, beside a log that repeats the progress."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.derive.logs import Line, derived, says, step, steps

DONE = says("training finished")


@pytest.mark.parametrize(
    ("printed", "ended"),
    [
        (steps(1, 2), "finished"),
        (steps(1, 2, 3), "unknown"),
        (steps(1), "unknown"),
    ],
    ids=["repeats the log", "went on", "fell behind"],
)
def test_standard_output_that_repeats_the_log_does_not_hide_its_end(
    printed: Sequence[Line], ended: str
) -> None:
    """Without times, only an equal position shows that both tell of the same steps."""
    logged = [step(1, time=10.0), step(2, time=11.0), DONE]
    tables = derived({"worker-0/stderr.txt": logged, "worker-0/stdout.txt": printed})
    assert tables["lifetimes"]["ended"].to_list() == [ended]


@pytest.mark.parametrize(
    ("line", "ended"),
    [
        ('Script done on 2026-11-26 14:53:43+00:00 [COMMAND_EXIT_CODE="130"]', "unknown"),
        ("Script done, file is typescript", "unknown"),
        ("Script done in 40 s", "finished"),
    ],
)
def test_the_end_of_a_recorded_terminal_session_is_not_the_trainings(line: str, ended: str) -> None:
    """The program script of util-linux writes it when the shell ends, however the training did."""
    tables = derived({"worker-0.log": [*steps(1, 2), says(line)]})
    assert tables["lifetimes"]["ended"].to_list() == [ended]


@pytest.mark.parametrize(
    "line",
    [
        "final 1.0950829982757568",
        "Final loss: 0.1234",
        "final test accuracy = 98 %",
        "=== END ===",
        "Model saved to /models/bert/3",
        "t=1795750854.33 rank=0 event=sweep_complete trials=4",
        "Model trained!",
        "metrics,0,END",
        "[27.11.2026 20:17:49] Fertig. Perplexität 2.3",
        "[*] Success, exiting",
    ],
)
def test_a_result_after_the_last_step_ends_the_training(line: str) -> None:
    """Scripts print their result once, and many say nothing else at their end."""
    tables = derived({"worker-0.log": [*steps(1, 2), says(line)]})
    assert tables["lifetimes"]["ended"].to_list() == ["finished"]


@pytest.mark.parametrize(
    "line",
    [
        "final epoch 3 starts",
        "final attempt 3 to connect",
        "final learning rate will be used",
        "Endpoint",
        "worker 1 is leaving",
        "checkpoint model saved to /x/ckpt-3",
        "event=eval_complete trials=4",
        "job_done=false",
        "model trained on 4 GPUs",
        "stage,decode,BEGIN",
        "Auswertung fertig, weiter mit Schritt 3",
        "Success: connected",
    ],
)
def test_words_that_only_resemble_a_result_end_nothing(line: str) -> None:
    """What comes last in a log may as well be the line before a hang."""
    tables = derived({"worker-0.log": [*steps(1, 2), says(line)]})
    assert tables["lifetimes"]["ended"].to_list() == ["unknown"]


@pytest.mark.parametrize(
    ("line", "ended"),
    [
        ("Epoch 2: early stopping", "finished"),
        ("Epoch 00002: early stopping", "finished"),
        ("Epoch 2: early stopping has patience 3", "unknown"),
        ("early stopping after epoch 2 not possible", "unknown"),
        ("Early stopping triggered at epoch 2.", "finished"),
        ("Early stopping: no better loss for 1 epoch", "unknown"),
        ("early stopping patience: 3", "unknown"),
        ("[worker-0] Reached the maximum number of steps, leaving", "finished"),
        ("reached the target accuracy of the warm-up", "unknown"),
        ("*** training is over ***", "finished"),
        ("training over 3 workers begins", "unknown"),
        ("Process finished with exit code 0", "finished"),
        ("child process 3: exit code 0", "unknown"),
        ("Results written to /out/metrics.json", "finished"),
        ("훈련이 완료되었습니다", "finished"),
    ],
)
def test_keras_says_that_it_stopped_early(line: str, ended: str) -> None:
    """`EarlyStopping` prints it when the training ends; the epochs that were planned are not made any more."""
    tables = derived({"worker-0.log": [*steps(1, 2), says(line)]})
    assert tables["lifetimes"]["ended"].to_list() == [ended]


@pytest.mark.parametrize(
    ("line", "ended"),
    [
        ("w2v: done after 68 local steps", "finished"),
        ("training finished after 12 epochs", "finished"),
        ("warm-up of the cache done after 10 steps", "unknown"),
        ("gave up, not done after 68 steps", "unknown"),
    ],
)
def test_a_worker_may_end_before_the_first_step_that_it_logs(line: str, ended: str) -> None:
    """In an asynchronous job the others may make most of the steps; its last line counts its own."""
    tables = derived({"worker-0.log": steps(1, 2), "worker-1.log": [says(line)]})
    assert tables["lifetimes"].filter(worker="worker:1")["ended"].to_list() == [ended]


@pytest.mark.parametrize(
    ("line", "ended"),
    [
        ("2026-11-27 08:28:39 worker-0 finished, status 0", "unknown"),
        ("[launch] worker 0 exited with status 0", "unknown"),
        ("worker-0 finished training", "finished"),
    ],
)
def test_that_a_launcher_saw_a_process_end_is_not_the_end_of_training(line: str, ended: str) -> None:
    """A status of 0 may be that of a pipe behind the process."""
    tables = derived({"worker-0.log": [*steps(1, 2), says(line)]})
    assert tables["lifetimes"]["ended"].to_list() == [ended]
