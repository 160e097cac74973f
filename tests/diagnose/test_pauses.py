"""Where a worker made no step, what it did instead, how long its steps took, and who came last."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from analyzer.derive.training.pauses import MAX_PAUSES
from analyzer.diagnose.curves import STEP_TIME, drawn
from analyzer.diagnose.timeline import pauses_by_worker, timeline
from analyzer.diagnose.trace import MAX_COLLECTIVES, collectives
from analyzer.model.contract import PauseInterval
from analyzer.model.run import Tables
from analyzer.tables.builders import frame

TablesOf = Callable[[Mapping[str, str]], Tables]
ALARM = (
    "2026-11-21 01:00:{:09.6f}: E external/local_xla/xla/service/slow_operation_alarm.cc:133] The operation took "
    "{}\n\n********************************\n[Compiling module a_inference_train_step__XlaMustCompile] Very slow "
    "compile? If you want to file a bug, run with envvar XLA_FLAGS=--xla_dump_to=/tmp/foo and attach the results.\n"
    "********************************\n"
)


def pauses(tables: Tables) -> Mapping[str, list[PauseInterval]]:
    """The pauses of each worker."""
    return pauses_by_worker(tables["pauses"])


def steps(times: Mapping[int, float], after: Mapping[int, str] | None = None) -> str:
    """A log of dated steps; `after` are lines that follow on one."""
    made = "I tensorflow starts\n"
    for step, time in times.items():
        made += (
            f"2026-11-21 01:{int(time) // 60:02d}:{time % 60:06.3f} INFO step {step} loss {1 / step:.4f}\n"
        )
        made += (after or {}).get(step, "")
    return made


def test_a_checkpoint_between_two_steps_is_a_pause(tables_of: TablesOf) -> None:
    """By the step before it where the line has no time; other long waits are told apart from it."""
    times = {n: float(n + 8 * (n > 10) + 30 * (n > 20)) for n in range(1, 31)}
    log = steps(times, {10: "saved checkpoint to /ckpt/ckpt-10\n"})
    found = pauses(
        tables_of({"worker-0.log": log, "worker-1.log": steps({n: float(n) for n in range(1, 31)})})
    )
    assert [(p["kind"], round(p["end"] - p["start"])) for p in found["worker:0"]] == [
        ("checkpoint", 9), ("pause", 31)
    ]  # fmt: skip
    assert found["worker:0"][0]["source"] == "worker-0.log"
    assert "worker:1" not in found


def test_an_evaluation_is_told_by_what_it_wrote(tables_of: TablesOf) -> None:
    """Its values are dated between the two steps."""
    times = {n: float(n + 20 * (n > 10)) for n in range(1, 21)}
    log = steps(times, {10: "2026-11-21 01:00:29.000 INFO step 10 val_loss 0.5\n"})
    found = pauses(tables_of({"worker-0.log": log}))
    assert [p["kind"] for p in found["worker:0"]] == ["evaluation"]


@pytest.mark.parametrize(("took", "seconds"), [("12.5s", 12.5), ("1m2.25s", 62.25), ("1h0m3s", 3603.0)])
def test_a_compilation_that_xla_complains_of(tables_of: TablesOf, took: str, seconds: float) -> None:
    """It ends when the complaint is printed; the timeline tells of it."""
    tables = tables_of({"worker-0.log": ALARM.format(30.0, took), "worker-1.log": steps({1: 1.0, 2: 2.0})})
    paused = pauses(tables)
    ((one,),) = paused.values()
    assert one["kind"] == "compile"
    assert one["end"] - one["start"] == pytest.approx(seconds)
    events, _ = timeline(tables, dict.fromkeys(tables["lifetimes"]["worker"].to_list(), "witness"), paused)
    assert [e["text"] for e in events if e["kind"] == "compile"] == [f"compiled for {seconds:.1f} s"]


def test_steps_that_are_not_shown_are_no_pause(tables_of: TablesOf) -> None:
    """As between the lines that are read of a large log; a long one is seen there all the same."""
    shown = [*range(1, 60), *range(100, 1000, 40), *range(1000, 1060)]
    times = {n: float(n) for n in shown}
    assert pauses(tables_of({"worker-0.log": steps(times)})) == {}
    late = {n: float(n + 900 * (n > 500)) for n in shown}
    (pause,) = pauses(tables_of({"worker-0.log": steps(late)}))["worker:0"]
    assert (pause["kind"], pause["end"] - pause["start"]) == ("pause", 940.0)


def test_only_the_longest_pauses_are_kept(tables_of: TablesOf) -> None:
    """In the order of time."""
    times = {n: float(n + 9 * (n // 10)) for n in range(1, 200)}
    found = pauses(tables_of({"worker-0.log": steps(times)}))["worker:0"]
    assert len(found) == MAX_PAUSES
    assert [p["start"] for p in found] == sorted(p["start"] for p in found)


def test_the_time_of_a_step_is_a_curve(tables_of: TablesOf) -> None:
    """Steps left out share what passed; the slowest step of a long run is not thinned away."""
    tables = tables_of({"worker-0.log": steps({1: 1.0, 3: 2.0, 4: 2.25})})
    curve = drawn(tables["scalars"], tables["curves"], tables["steps"])["worker:0"][-1]
    assert curve["tag"] == STEP_TIME
    assert [point[:2] for point in curve["points"]] == [[3, 0.5], [4, 0.25]]
    times = {n: n / 10 + 5.0 * (n > 777) for n in range(1, 1500)}
    tables = tables_of({"worker-0.log": steps(times)})
    curve = drawn(tables["scalars"], tables["curves"], tables["steps"])["worker:0"][-1]
    assert curve["total"] == 1498
    assert curve["kept"] == len(curve["points"]) <= 240
    assert max(point[1] for point in curve["points"]) == pytest.approx(5.1)
    undated = drawn(*_of(tables_of, "step 1 loss 0.5\nstep 2 loss 0.4\n"))["worker:0"]
    assert STEP_TIME not in [curve["tag"] for curve in undated]


def _of(tables_of: TablesOf, log: str) -> tuple:  # type: ignore[type-arg]
    tables = tables_of({"worker-0.log": log})
    return tables["scalars"], tables["curves"], tables["steps"]


def test_every_event_names_the_line_that_shows_it(tables_of: TablesOf) -> None:
    """The first dated line of a start, the exit code of an end; with its words."""
    files = {"worker-0.log": "plain\n" + steps({1: 1.0, 2: 2.0}), "exit_codes.txt": "worker-0 1\n"}
    tables = tables_of(files)
    events, _ = timeline(tables, {"worker:0": "culprit"})
    told = {e["kind"]: (e["source"], e["line"], e["excerpt"]) for e in events}
    assert told["start"] == ("worker-0.log", 3, "2026-11-21 01:00:01.000 INFO step 1 loss 1.0000")
    assert told["end"][:2] == ("exit_codes.txt", 1)
    assert told["end"][2] == "worker-0 1"
    assert all(e["source"] and e["line"] for e in events)


def test_who_came_last_to_each_collective(tables_of: TablesOf) -> None:
    """Those that all workers share, in order; of very many, the ones that cost the most."""
    row = {"name": "all-reduce", "workers": 2, "shared": True, "nth": 1, "last": False, "caused_seconds": 0.0}
    rows = [
        row | {"worker": f"worker:{w}", "instance": n, "start": float(n), "end": n + 0.5, "seconds": 0.5,
               "last": w == n % 2, "caused_seconds": 0.001 * n * (w == n % 2)}
        for n in range(MAX_COLLECTIVES + 5)
        for w in range(2)
    ]  # fmt: skip
    rows.append(row | {"worker": "worker:0", "instance": 999, "start": 0.0, "shared": False})
    found, left_out = collectives({"collectives": frame("collectives", rows)})
    assert left_out == 5
    assert [c["last"] for c in found[:3]] == ["worker:1", "worker:0", "worker:1"]
    assert found[0]["waited"] == pytest.approx(0.005)
    assert found[-1]["name"] == "all-reduce"
    assert collectives(tables_of({"worker-0.log": "step 1 loss 0.5\n"})) == ([], 0)
