"""The error of its own program with which a log ends, and the lines with which a program leaves."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.model.run import Tables
from tests.derive.logs import Line, derived, error, raised, says, step, steps

LOST = raised(
    "tensorflow.python.framework.errors_impl.UnavailableError: Collective ops is aborted by: Socket closed"
)
STEPS = steps(1, 2)
DONE = says("training finished")


def life(tables: Tables, worker: str) -> dict[str, Any]:
    """The row of one worker."""
    (row,) = [row for row in tables["lifetimes"].iter_rows(named=True) if row["worker"] == worker]
    return row


def farewell(text: str, time: float | None = None) -> Line:
    """A line that the program logs as information."""
    return says(text, time=time, kind="python", level="I", origin="acme.loop")


def logged(text: str, time: float | None = None) -> Line:
    """A line that the program logs as an error."""
    return says(f"ERROR {text}", time=time, kind="python", level="E", origin="acme.guard")


@pytest.mark.parametrize(
    ("log", "told"),
    [
        ([*STEPS, logged("column is text"), farewell("bye")], "column is text"),
        ([*STEPS, logged("column is text", 3.0), farewell("bye", 7.0)], "column is text"),
        ([*STEPS, says("FATAL: column is text"), says("cleaning up")], "column is text"),
        ([*STEPS, says("[CRITICAL] column is text")], "column is text"),
        ([*STEPS, logged("column is text", 3.0), farewell("input reopened", 60.0)], None),
        ([*STEPS, logged("column is text"), *map(farewell, "abcd")], None),
        ([*STEPS, logged("column is text"), step(3), farewell("bye")], None),
        ([*STEPS, logged("the connection to a peer broke"), farewell("bye")], None),
        ([*STEPS, says("FATAL is a level"), says("cleaning up")], None),
        ([*STEPS, logged("column is text"), error("Aborting RingReduce"), farewell("bye")], None),
        ([*STEPS, logged("column is text", 3.0), logged("exiting with code 3", 4.0)], "column is text"),
        ([*STEPS, logged("column is text"), says("FATAL: exiting")], "exiting"),
        ([*STEPS, logged("column is text", 3.0), logged("exiting with code 3", 60.0)], "exiting with code 3"),
        ([*STEPS, logged("slow disk"), logged("column is text; leaving")], "column is text; leaving"),
        ([*STEPS, logged("slow disk"), logged("exiting: column is text")], "exiting: column is text"),
        ([*STEPS, logged("the connection to a peer broke"), logged("任务退出, 退出码 2")], None),
        ([*STEPS, logged("exiting with code 3")], "exiting with code 3"),
    ],
)
def test_an_error_below_which_the_program_only_took_its_leave(log: list[Line], told: str | None) -> None:
    """A few lines may follow within seconds; progress, TensorFlow's errors or a minute show that it went on."""
    assert life(derived({"worker-1.log": log}), "worker:1")["last_error"] == told


@pytest.mark.parametrize(
    ("leaves", "peer", "ended"),
    [
        ([logged("column is text"), says("finished")], [*STEPS, LOST], "vanished"),
        ([logged("column is text"), says("finished")], STEPS, "finished"),
        ([logged("column is text"), DONE], [*STEPS, LOST], "finished"),
        ([says("finished"), logged("column is text")], [*STEPS, LOST], "finished"),
    ],
)
def test_a_farewell_below_an_error_is_no_completion(leaves: list[Line], peer: list[Line], ended: str) -> None:
    """It is none if a peer fell; a line that says that training is complete is one."""
    logs = {"worker-0.log": peer, "worker-1.log": [*STEPS, *leaves]}
    assert life(derived(logs), "worker:1")["ended"] == ended


def test_errors_of_the_same_logger_are_told_beside_the_last_one() -> None:
    """Not those of other loggers, nor of a minute before."""
    log = [
        *STEPS,
        logged("slow disk", 3.0),
        logged("lease revoked", 64.0),
        says("FATAL: metrics lost", time=64.5),
        logged("shutting down with status 3", 65.0),
    ]
    tables = derived({"worker-0.log": [*STEPS, LOST], "worker-1.log": log})
    assert life(tables, "worker:1")["last_error"] == "lease revoked"
    assert tables["errors_beside"]["message"].to_list() == ["shutting down with status 3"]
