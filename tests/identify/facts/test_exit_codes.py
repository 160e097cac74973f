"""An exit code that stands beside a name is that of the worker whose log alone has it."""

from __future__ import annotations

import pytest

from analyzer.identify.facts.exit_codes import with_named_exit_codes
from analyzer.identify.statements import NamedSource
from analyzer.tables.builders import frame

LOGS = {
    "alder/train.log": "worker:0", "birch/train.log": "worker:1", "all.log#cedar": "worker:2", "d7.out": "worker:3",
    "floe-4-error.log": "worker:4", "fir_5-stderr---supervisor-c4_y3l4e.log": "worker:5",
    "ml_fit.12.k3v1a0b9c8d7.log": "worker:6",
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "given", "worker"),
    [
        ("alder", None, "worker:0"),
        ("cedar", None, "worker:2"),
        ("d7", None, "worker:3"),
        ("gpu-5", "worker:5", "worker:5"),
        ("floe-4", None, "worker:4"),
        ("fir_5", None, "worker:5"),
        ("ml_fit.12", None, "worker:6"),
        ("floe", None, None),
        ("train", None, None),
        ("elm", None, None),
    ],
    ids=[
        "a directory",
        "a stream",
        "a file",
        "a number of its own",
        "an app of pm2",
        "a program of supervisord",
        "a task of Docker Swarm",
        "a part of a name",
        "a name of several logs",
        "no log",
    ],
)
def test_a_name_is_that_of_one_log(name: str, given: str | None, worker: str | None) -> None:
    """Other facts stay as they are."""
    sources = [NamedSource(log, "log", task, 1) for log, task in LOGS.items()]
    other = {"source": "alder/train.log", "key": "host", "value": "alder"}
    code = {"source": "rc.txt", "key": f"exit_code:{name}", "value": "-9", "worker": given}
    facts = with_named_exit_codes(frame("facts", [other, code]), sources)
    told = facts.select("key", "value", "worker").rows()
    assert told == [("host", "alder", None), *([("exit_code", "-9", worker)] if worker else [])]


@pytest.mark.parametrize(
    ("tasks", "names", "workers"),
    [
        (["chief:0", "evaluator:0"], ["census-evaluator"], ["evaluator:0"]),
        (["ps:0", "ps:1"], ["census-ps"], []),
        (["worker:0", "ps:0"], ["old-worker", "new-worker"], []),
        (["worker:0", "ps:0"], ["worker-of-ps"], []),
    ],
    ids=["the only task", "two tasks of the role", "two names with the role", "a name with two roles"],
)
def test_a_role_without_an_index_is_that_of_its_only_task(
    tasks: list[str], names: list[str], workers: list[str]
) -> None:
    """The logs are named after the task, the list of exit codes after the host."""
    sources = [NamedSource(f"{task.replace(':', '-')}.log", "log", task, 1) for task in tasks]
    codes = [{"source": "rc.txt", "key": f"exit_code:{name}", "value": "-9"} for name in names]
    assert with_named_exit_codes(frame("facts", codes), sources)["worker"].to_list() == workers
