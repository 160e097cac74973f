"""ProgressReader lines become values with their place in training."""

from __future__ import annotations

import math
import re

import pytest

from analyzer.ingest.logs.progress import counters, layouts
from analyzer.ingest.logs.progress.layouts import is_progress
from analyzer.ingest.logs.progress.points import ProgressPoint
from analyzer.ingest.logs.progress.reader import ProgressReader


def points(*texts: str) -> list[ProgressPoint]:
    """The points of some lines, read in order."""
    progress = ProgressReader()
    return [point for text in texts for point in progress.points(text)]


@pytest.mark.parametrize(
    "bar",
    [
        " 4/12 [=========>....................] - ETA: 2s - loss: 0.4004 - mae: 0.8301",
        "4/12 ━━━━━━━━━━━━━━━━━━━━ 0s 3ms/step - loss: 0.4004 - mae: 0.8301",
        "4/12 - 0s - loss: 0.4004 - mae: 0.8301",
        "4/12 - 0s - 30ms/step - loss: 0.4004 - mae: 0.8301",
        "4/12 - 0s - loss: 0.4004 - mae: 0.8301 - 344ms/epoch - 43ms/step",
    ],
)
def test_bars_of_every_keras_give_the_same_values(bar: str) -> None:
    """Keras 2 and 3, redrawn and one line an epoch; what `fit` prints is reduced over all replicas."""
    _, step, loss, mae = points("Epoch 2/3", bar)
    assert (step.epoch, step.epochs, step.step, step.steps) == (2, 3, 4, 12)
    assert (loss.tag, loss.value, loss.scope, loss.origin) == ("loss", 0.4004, "global", "fit")
    assert (mae.tag, mae.value) == ("mae", 0.8301)


@pytest.mark.parametrize(
    ("line", "step", "value"),
    [
        ("step 12 loss 0.5", 12, 0.5),
        ("step=12 loss=0.5", 12, 0.5),
        ("{'loss': 0.5, 'step': 12, 'steps_per_second': 2.6}", 12, 0.5),
        ("Step: 12, Loss: 0.5", 12, 0.5),
        ("paso 12 loss=0.5", 12, 0.5),
        ("étape 12 : loss=0.5", 12, 0.5),
        ("Schritt 12: loss=0.5", 12, 0.5),
        ("第 12 步 loss=0.5", 12, 0.5),
        ("adım 12 loss=0.5", 12, 0.5),
        ("stap 12 loss 0.5", 12, 0.5),
        ("Schritt 12 von 90 Verlust 0.5 loss 0.5", 12, 0.5),
        ('{"step": 12, "loss": 0.5}', 12, 0.5),
        ("batch done iteration: 12 train_loss: 0.5 it_time: 0.1", 12, 0.5),
        ("loss = 0.5, step = 12 (0.057 sec)", 12, 0.5),
        ("rank=0 step 12/100 loss 5e-1", 12, 0.5),
    ],
)
def test_loops_of_peoples_own_are_read_in_their_common_spellings(line: str, step: int, value: float) -> None:
    """Step and loss; whether it is local or reduced is not said, and so not guessed."""
    found = {point.tag: point for point in points(line)}
    loss = next(point for tag, point in found.items() if "loss" in tag.lower())
    assert (loss.step, loss.value, loss.scope) == (step, value, "unknown")


def test_the_bar_of_tqdm_is_progress_where_it_shows_a_loss() -> None:
    """Other bars of it, as of a download, count something else."""
    _, loss = points("Epoch 2:  40%|████      | 40/100 [00:10<00:15,  3.97it/s, loss=0.5]")
    assert (loss.epoch, loss.step, loss.steps, loss.value) == (2, 40, 100, 0.5)
    assert not is_progress(" 40%|████      | 40/100 [00:10<00:15,  3.97it/s]")


def test_a_name_says_whether_a_value_is_local() -> None:
    """Each value by its own name, also where both stand in one line."""
    found = {point.tag: point.scope for point in points("step 3 global_loss=0.5 local_loss=0.7")}
    found |= {point.tag: point.scope for point in points("step 3 replica_loss=0.5 cross_replica_loss=0.7")}
    assert found["replica_loss"] == "local"
    assert found["cross_replica_loss"] == "unknown"
    assert found["local_loss"] == "local"
    assert found["global_loss"] == "global"


def test_values_that_are_not_finite_are_kept() -> None:
    """They are what one looks for."""
    assert math.isnan(points("step 3 loss nan")[1].value)
    assert math.isinf(points("Epoch 1/1", "2/20 - 1s - loss: inf")[2].value)
    assert math.isnan(points("step 3 loss = 0000nan")[1].value), "as f'{loss:07.5f}' writes it"


@pytest.mark.parametrize(
    "line",
    ["batch_size: 64", "steps_per_epoch=100 loss=mse", "loss function: mse", "using 4 steps", "financial data loaded",
     "hello task=1 conf.epochs=5 conf.steps=18 conf.lr=0.1", "max_steps=1000", "第 3 章", "第 3 轮", "Passwort 3", "ValueError: step 3 loss nan",
     'config: {"trainer": {"log_every": 10, "step": 4}, "optim": {"lr": 0.05}, "data": {"batch": 32}}',
     '{"event": "start", "lr": 0.05, "batch": 32}', "Hyperparameters: {'lr': 0.1, 'epoch': 20}",
     "Step 1/9 : FROM nvcr.io/nvidia/tensorflow:24.02-tf2-py3"],
)  # fmt: skip
def test_other_lines_are_no_progress(line: str) -> None:
    """Words that only look like it."""
    assert not is_progress(line)


def test_a_step_of_an_image_s_build_is_told_from_one_of_the_training() -> None:
    """Docker counts its instructions as a loop counts its steps."""
    assert is_progress("Step 1/9 : loss 0.5")


def test_a_line_that_begins_with_its_step_is_progress_without_a_value() -> None:
    """It tells how far a worker came, which is what a stall is found by."""
    assert points("step 18: batch of 64 ready")[0].step == 18


@pytest.mark.parametrize(
    "line", ["batch 32: loss 0.5, lr 0.1", "batch 32/90 lr=0.1", "step 32 lr=0.1", '{"lr": 0.1, "step": 32}']
)
def test_a_learning_rate_beside_a_step_is_no_setting(line: str) -> None:
    """Only a number of a batch may also be its size."""
    assert points(line)[0].step == 32


def test_no_expression_cares_which_digit_stands_somewhere() -> None:
    """Else a line could not be taken apart like another one whose digits differ."""
    expressions = [
        each
        for each in (*vars(layouts).values(), *vars(counters).values())
        if isinstance(getattr(each, "pattern", None), str)
    ]
    assert len(expressions) > 9
    for expression in expressions:
        assert not re.search(r"\d", re.sub(r"\{\d+(?:,\d*)?\}|\(\?<[=!].*?\)", "", expression.pattern))
    first, second = (ProgressReader().points(f"step {n}/900 top_{n % 10}_acc: 0.{n}") for n in (123, 456))
    assert [point.tag for point in (*first, *second)] == ["step", "top_3_acc", "step", "top_6_acc"]
    assert [point.value for point in (*first, *second)] == [123.0, 0.123, 456.0, 0.456]


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("progress epoch:1 step:7 loss:0.75 read_s:0.5 host_s:0.25 device_s:6.5",
         {"loss": 0.75, "read_s": 0.5, "host_s": 0.25, "device_s": 6.5}),
        ("step 7 psnr=28.5 sec_per_step=0.25", {"psnr": 28.5, "step_seconds": 0.25}),
        ("step 7 loss 0.5 step_time: 250ms", {"loss": 0.5, "step_seconds": 0.25}),
        ("iteration: 7 x_logloss: 0.5, batch_time: 2.5", {"x_logloss": 0.5, "step_seconds": 2.5}),
        ("epoch 7: bleu_4=0.5 (12.2 s)", {"bleu_4": 0.5}),
        ("7%|▋| 7/100 [00:10<00:15, 1.5s/it, loss=0.5, psnr=28.5]",
         {"step_seconds": 1.5, "loss": 0.5, "psnr": 28.5}),
        ("step 7 of worker=3 rank: 2 loss 0.5", {"loss": 0.5}),
        ("step 7: compute 812 ms, wait 3 ms", {"compute_seconds": 0.812, "wait_seconds": 0.003}),
        ("step 7 loss=0.5 compute: 0.812 s", {"loss": 0.5, "compute_seconds": 0.812}),
        ("step 7 loss=0.5 took 812 ms, next in 3 s", {"loss": 0.5}),
        ("step 7: loss=0.5 (3.9 steps/s, input 1.76 s, train 0.25 s)",
         {"loss": 0.5, "input_seconds": 1.76, "train_seconds": 0.25}),
        ("paso 7/90  pérdida local=0.066801  (14.0 pasos/s)", {"pérdida local": 0.066801}),
        ("étape 7 perte moyenne: 0.5", {"perte moyenne": 0.5}),
        ("Epoch: [0][ 7/60]\tTime  0.463 ( 0.470)\tData  0.441 ( 0.446)\tLoss 9.5e-01 (9.7e-01)",
         {"step_seconds": 0.463, "data_seconds": 0.441, "Loss": 0.95}),
        ("Epoch: [0][7/60] Data 3.441 (3.446) Loss 0.95 (0.97)", {"Data": 3.441, "Loss": 0.95}),
    ],
)  # fmt: skip
def test_metrics_of_any_name_are_read(line: str, values: dict[str, float]) -> None:
    """Durations in seconds; numbers that say where are none."""
    found = {mark.tag: mark.value for mark in points(line)}
    assert found.pop("step") in {0.0, 7.0}
    assert found == pytest.approx(values)


def test_the_last_bar_of_an_epoch_tells_the_time_of_a_step() -> None:
    """Earlier ones would repeat it."""
    first, last = points("3/12 - 0s - 40ms/step - loss: 0.4"), points("12/12 - 0s - 43ms/step - loss: 0.4")
    assert [mark.tag for mark in first] == ["step", "loss"]
    assert {mark.tag: mark.value for mark in last} == pytest.approx(
        {"step": 12.0, "loss": 0.4, "step_seconds": 0.043}
    )


def test_a_bar_that_still_waits_does_not_end_its_epoch() -> None:
    """Keras draws the last step once with `ETA`, and again when the epoch, with its validation, is over."""
    waits, ends = "12/12 [======] - ETA: 0s - loss: 0.4", "12/12 [======] - 0s 43ms/step - loss: 0.4"
    assert [points(line)[0].steps for line in (waits, ends)] == [None, 12]
    assert points("3/12 [>.....] - ETA: 9s - loss: 0.4")[0].steps == 12


def test_the_lines_of_an_estimator_are_read() -> None:
    """Its steps, its checkpoints and its evaluations; its last line is no step."""
    assert [(mark.tag, mark.step) for mark in points("loss = 0.3, step = 100 (1.2 sec)")] == [
        ("step", 100),
        ("loss", 100),
    ]
    (saved,) = points("Saving checkpoints for 1000 into /ckpt/model.ckpt.")
    assert (saved.tag, saved.step) == ("checkpoint_step", 1000)
    tried = points("Saving dict for global step 500: accuracy = 0.5, global_step = 500, loss = 0.25")
    assert [(mark.tag, mark.step, mark.value) for mark in tried] == [
        ("step", 500, 500.0), ("evaluation/accuracy", 500, 0.5), ("evaluation/loss", 500, 0.25),
    ]  # fmt: skip
    assert not is_progress("Loss for final step: 0.1.")
    assert not is_progress("srun: Terminating job step 4711.0")


@pytest.mark.parametrize(
    "line",
    [
        "srun: Terminating job step 221310.0",
        "slurmstepd: error: *** STEP 221310.0 ON node12 CANCELLED AT 2026-07-26T12:11:18 ***",
    ],
)
def test_a_job_step_of_slurm_is_no_step_of_training(line: str) -> None:
    """Slurm counts steps of a job."""
    assert not is_progress(line)


def test_an_epoch_that_chinese_counts_between_two_signs_is_one() -> None:
    """With its plan and its loss, `第 2/3 轮`."""
    _, loss = points("第 2/3 轮 完成，损失 0.5")
    assert (loss.epoch, loss.epochs, loss.step, loss.value) == (2, 3, None, 0.5)


@pytest.mark.parametrize("line", ["Epoch 2/3", "Epoch 2 of 3", "Starting epoch 2/3..."])
def test_the_header_of_an_epoch_tells_the_plan(line: str) -> None:
    """With a slash or in words."""
    assert [(mark.epoch, mark.epochs) for mark in points(line)] == [(2, 3)]


def test_metrics_below_a_line_that_names_the_step_are_of_it() -> None:
    """They are indented; what comes behind them is not."""
    reader = ProgressReader()
    assert [mark.tag for mark in reader.points("step=3")] == ["step"]
    below = reader.points_below("\t mean_loss = nan")
    assert [(mark.tag, mark.step) for mark in below] == [("mean_loss", 3)]
    assert reader.points_below("done") == []
    assert reader.points_below("  loss: 0.5") == []


@pytest.mark.parametrize("text", ["[12/90] loss 0.33", "train 12/90 loss=0.33", "10% (12/90) loss: 0.33"])
def test_a_fraction_before_a_metric_is_a_step_of_a_plan(text: str) -> None:
    """Loops often print nothing else."""
    point = points(text)[0]
    assert (point.step, point.steps) == (12, 90)


@pytest.mark.parametrize(
    "text", ["eval 12/90 loss=0.33", "2024/05/20 loss 0.3", "val [3/9] loss 0.2", "shard 3/7 read"]
)
def test_other_fractions_are_no_steps(text: str) -> None:
    """Dates, evaluation and what has no metric."""
    assert points(text) == []


def counted(*texts: str) -> list[tuple[str, int | None, float]]:
    """The values of lines with a counter of any name, read in order."""
    reader = ProgressReader()
    return [
        (point.tag, point.step, point.value)
        for text in texts
        for point in (reader.points(text) or reader.points_counted(text))
    ]


@pytest.mark.parametrize(
    "line",
    [
        "round {}: bce 0.31 (lr 0.003)",
        "tick {}    kimg 1.2  D 0.7",
        "[vae] minute {} | elbo -91.5",
        "reward=3.10 kl=-0.0102 update={}",
        "           INFO     round {}/8 regret 0.6958 pulls 16             bandit.py:42",
        "WARNING   bandit   round {}/8 regret 0.6958",
        "[info  ] round over                     round={}/10 regret=0.69099 pulls=120",
    ],
)
def test_a_counter_of_any_name_that_grew_twice_is_a_step(line: str) -> None:
    """Not before: a line seen twice may count anything."""
    assert counted(line.format(3), line.format(4)) == []
    assert counted(*map(line.format, (3, 4, 5, 6)))[-1][1] == 6
    assert ("step", 1, 1.0) in counted(*map(line.format, (7, 8, 9, 1)))


def test_spaces_alone_may_separate_a_metric_from_its_value() -> None:
    """NaN is a value; a word before a number is no name."""
    lines = [f"tick {n}   G 0.69   D       nan   took 2.5 s  of 300.0" for n in (1, 2, 3)]
    assert [(tag, value) for tag, _, value in counted(*lines) if value == value] == [
        ("step", 3.0),
        ("G", 0.69),
    ]
    assert {tag for tag, _, _ in counted(*lines)} == {"step", "G", "D"}


def test_a_counter_may_be_padded() -> None:
    """`{n:4d}` has a space less from 100 on."""
    assert counted(*(f"episode {n:4d}  reward {0.5:.2f}" for n in (80, 90, 100, 110)))[-1][1] == 110


def test_the_line_of_a_program_is_no_metric() -> None:
    """Rich prints file and line at the right edge."""
    assert {tag for tag, _, _ in counted(*(f"round {n} bce 0.3    bandit.py:42" for n in (1, 2, 3)))} == {
        "step",
        "bce",
    }


def test_the_counter_itself_is_no_metric() -> None:
    """What stands behind it is."""
    assert counted(*(f"frames={n} psnr=20.5" for n in (64, 128, 192))) == [
        ("step", 192, 192.0),
        ("psnr", 192, 20.5),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "retrying, attempt {} in 2.5 s",
        "waited {} s of 300.0",
        "worker {} reports 0.5",
        "read {}.5 MB",
        "listening on port {} (0.1)",
        "size=2.5 attempts={}",
        "           INFO     worker {} reports 0.5             bandit.py:42",
    ],
)
def test_what_counts_no_progress_is_no_step(line: str) -> None:
    """Attempts, durations and names; nor is it where the log has steps or epochs by their usual names."""
    reader = ProgressReader()
    assert not [point for n in range(3, 9) for point in reader.points_counted(line.format(n))]
    assert counted("step 1 loss 0.5", *(f"round {n}: bce 0.31" for n in range(9)))[2:] == []


@pytest.mark.parametrize(
    ("line", "place", "values"),
    [
        ("[Rechner 0] Epoche 5 von 9: D 1.25  G nan", (5, 9), {"D": 1.25, "G": math.nan}),
        ("Époque 2 sur 4 : gen 0.5", (2, 4), {"gen": 0.5}),
        ("epoch 3/4 fid 12.5", (3, 4), {"fid": 12.5}),
    ],
)
def test_an_epoch_of_a_plan_may_have_metrics_of_any_name(
    line: str, place: tuple[int, int], values: dict[str, float]
) -> None:
    """Nothing but spaces stands between name and value."""
    first, *rest = points(line)
    assert (first.epoch, first.epochs) == place
    assert {point.tag: point.value for point in rest} == pytest.approx(values, nan_ok=True)


@pytest.mark.parametrize(
    "line", ["Epoch 3 of 10 took 4.5 s", "Epoche 3 von 10 beginnt", "epoch 3 lasted 4.5 s"]
)
def test_a_duration_or_nothing_is_no_metric_of_an_epoch(line: str) -> None:
    """Such lines are headings, or say how long it took."""
    assert points(line) == []
