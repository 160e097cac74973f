"""A post with the log of one worker says above it whose log it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from analyzer.model.run import Tables

TablesOf = Callable[[Mapping[str, str]], Tables]

_LOG = (
    "2026-11-21 03:12:20.119920: I tensorflow/core/distributed_runtime/rpc/grpc_server_lib.cc:437] Started\n"
    'Traceback (most recent call last):\n  File "/srv/train.py", line 6, in <module>\n    fit()\nValueError: no\n'
)


def _raised_by(above: str, tables_of: TablesOf) -> str:
    """Return the worker that raised the exception of a post with that line above its log."""
    tables = tables_of({"post.txt": f"It ends after an hour.\n\n{above}\n\n{_LOG}"})
    (worker,) = tables["exceptions"]["worker"].to_list()
    return str(worker)


@pytest.mark.runs
@pytest.mark.parametrize(
    ("above", "worker"),
    [
        ("worker 3:", "worker:3"),
        ("### ps 1", "ps:1"),
        ("Worker 2's log (4 workers). The others wait.", "worker:2"),
        ("stderr of worker:3", "worker:3"),
        ("It is always the same one. On worker 1:", "worker:1"),
        ("Worker 0 is fine. Here is the log of worker 2 (gpu07):", "worker:2"),
    ],
)
def test_the_line_above_a_log_names_its_task(above: str, worker: str, tables_of: TablesOf) -> None:
    """As a heading, or at the end of a sentence."""
    assert _raised_by(above, tables_of) == worker


@pytest.mark.runs
@pytest.mark.parametrize(
    "above",
    [
        "It happens whenever I kill worker 2, this is the log:",
        "The log of worker 1 and worker 2:",
        "worker 3 is the slow one",
        "error code 1",
    ],
)
def test_another_mention_of_a_task_does_not(above: str, tables_of: TablesOf) -> None:
    """The sentence is about a task, but does not say that the log below is its log."""
    assert _raised_by(above, tables_of) == "worker:0"


@pytest.mark.runs
def test_a_second_announcement_ends_the_log_above_it(tables_of: TablesOf) -> None:
    """Also where it says more of the other log than a heading does."""
    other = (
        "worker 1 (no error in TF, the last lines before the shell came back):\n  3/9 [==>...] - loss: 1.1\n"
    )
    crash = "./run.sh: line 12: 28110 Bus error               (core dumped) python train.py\n"
    tables = tables_of({"post.txt": f"worker 0:\n{_LOG}\n{other}{crash}"})
    assert [*tables["exceptions"]["worker"]] == ["worker:0"]
    assert {*tables["scalars"]["worker"]} == {"worker:1"}
