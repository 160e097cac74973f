"""Programs beside the workers, whose logs are no worker's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analyzer.discover import discover
from analyzer.pipeline import load_tables
from tests.rules import our_rules

pytestmark = pytest.mark.runs


def workers_of(run: Path) -> dict[str, str | None]:
    """Return source → its worker."""
    sources = load_tables(discover([run]), our_rules())["sources"]
    return dict(sources.select("source", "worker").iter_rows())


def test_the_log_of_a_supervisor_is_no_workers(make_run: Callable[[Mapping[str, str]], Path]) -> None:
    """Though it was told to end, as a worker may be."""
    told = "2026-11-20 10:10:01,002 WARN received SIGTERM indicating exit request\n"
    logs = {f"worker-{index}.log": "step 1 loss 0.5\n" for index in range(2)}
    assert workers_of(make_run({**logs, "supervisord.log": told}))["supervisord.log"] is None


def test_what_pm2_says_of_its_apps_makes_it_no_worker(make_run: Callable[[Mapping[str, str]], Path]) -> None:
    """The apps are named after the model, and one left no log."""
    said = "2026-11-27T14:00:19: PM2 log: App [floe-{}:2] exited with code [0] via signal [SIGKILL]\n"
    logs = {f"logs/floe-{index}-error.log": "step 1 loss 0.5\n" for index in range(2)}
    assert workers_of(make_run({**logs, "pm2.log": said.format(1) + said.format(2)}))["pm2.log"] is None


@pytest.mark.parametrize("is_task", [False, True])
def test_a_server_of_the_data_service_is_no_worker(
    make_run: Callable[[Mapping[str, str]], Path], *, is_task: bool
) -> None:
    """Unless the same process has the server of a task of the cluster."""
    stamp = "2026-11-20 10:10:01.002003: I tensorflow/core/"
    served = f"{stamp}data/service/server_lib.cc:82] Started tf.data WorkerServer running at 0.0.0.0:34249\n"
    server = f"{stamp}distributed_runtime/rpc/grpc_server_lib.cc:447] Started server with target: grpc://10.0.0.3:2222\n"
    logs = {f"worker-{index}.log": "step 1 loss 0.5\n" for index in range(2)}
    found = workers_of(make_run({**logs, "feed.log": served + server * is_task}))
    assert (found["feed.log"] is not None) is is_task


def test_lines_without_a_colour_are_of_no_host(make_run: Callable[[Mapping[str, str]], Path]) -> None:
    """Where colours tell the hosts apart, as in what SageMaker's SDK prints, they are the SDK's own."""
    stamp = "2026-11-21 00:05:01.083826: I tensorflow/core/util/port.cc:113] oneDNN custom operations are on."
    lines = [f"step {number} loss 0.5" for number in range(1, 4)]
    for colour in (34, 35):
        status = "2026-11-21 00:05:00 Training - Training image download completed. Training in progress."
        dump = [f'{status}\x1b[{colour}m{{"option": 1,', '    "other": 2', "}\x1b[0m"]
        lines += [*dump, *(f"\x1b[{colour}m{line}\x1b[0m" for line in [stamp, "step 5 loss 0.4"] * 12)]
    found = workers_of(make_run({"train.log": "\n".join(lines)}))
    assert found["train.log"] is None
    assert {found["train.log#colour 34"], found["train.log#colour 35"]} == {"worker:0", "worker:1"}


@pytest.mark.parametrize("progress", ["", "step 6 loss 0.4\n"], ids=["none", "a step"])
def test_a_launcher_that_imports_tensorflow_is_no_worker(
    make_run: Callable[[Mapping[str, str]], Path], progress: str
) -> None:
    """As horovodrun does to see what was built; a step beside the ranks is of a program that trains."""
    stamp = "2026-11-21 00:05:01.083826: I tensorflow/core/platform/cpu_feature_guard.cc:182] AVX2 FMA\n"
    ranks = "".join(
        f"[{rank}]<stderr>:{stamp}[{rank}]<stdout>:step {step} loss 0.5\n"
        for step in range(1, 4)
        for rank in (0, 1)
    )
    found = workers_of(make_run({"output.log": stamp + ranks + progress}))
    assert (found["output.log"] is None) is (not progress)
