"""Attempts that directories number, and those that their logs hold."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analyzer.discover import discover
from analyzer.pipeline import load_tables
from tests.rules import our_rules

pytestmark = pytest.mark.runs

LINE = "step 1 loss 0.5\n"
SERVER = "I0000 00:00:1795224703.563885 6 x.cc:1] Started server with target: grpc://a:2222\n"


def test_attempts_are_counted_after_all_that_earlier_files_hold(
    make_run: Callable[[Mapping[str, str]], Path],
) -> None:
    """A launcher may restart a worker within one attempt of the scheduler; exit codes are of its last life."""
    once = SERVER + LINE
    run = make_run(
        {
            "attempt-1/worker-0.log": once * 3,
            "attempt-2/worker-0.log": once + "training finished\n",
            "attempt-1/exit_codes.txt": "worker-0 1\n",
            "attempt-2/exit_codes.txt": "worker-0 0\n",
        }
    )
    tables = load_tables(discover([run]), our_rules())
    assert tables["lifetimes"].select("attempts", "ended").rows() == [(4, "finished")]
    assert tables["scalars"].filter(tables["scalars"]["tag"] == "loss")["attempt"].to_list() == [1, 2, 3, 4]
    codes = tables["facts"].filter(tables["facts"]["key"] == "exit_code")
    assert codes.select("attempt", "value").rows() == [(3, "1"), (4, "0")]


@pytest.mark.parametrize("zone", ["Z", "+05:00"], ids=["the same clock", "a clock hours behind"])
def test_a_supervisor_reports_the_end_of_the_attempt_that_had_begun(
    make_run: Callable[[Mapping[str, str]], Path], zone: str
) -> None:
    """Without any that had begun by its clock, all ends are of the last attempt."""
    life = "2026-11-27T13:5{0}:01Z {1}2026-11-27T13:5{0}:09Z step 1 loss 0.5\n"
    ends = "2026-11-27T13:5{0}:20{1} WARN exited: floe_1 (terminated by {2}; not expected)\n"
    run = make_run(
        {
            "floe_1-stderr---supervisor-c4_y3l4e.log": life.format(4, SERVER) + life.format(5, SERVER),
            "supervisord.log": ends.format(4, zone, "SIGKILL") + ends.format(5, zone, "SIGSEGV"),
        }
    )
    facts = load_tables(discover([run]), our_rules())["facts"]
    codes = facts.filter(facts["key"] == "exit_code").select("attempt", "value").rows()
    assert codes == ([(1, "-9"), (2, "-11")] if zone == "Z" else [(2, "-9"), (2, "-11")])


def recorded(begin: float, text: str) -> tuple[str, str]:
    """Return the events of a recording of a process without TF_CONFIG, 10 s long, and its output."""
    told = {"event": "recording", "task": "vm", "task_from": "host", "host": "vm", "command": ["python"]}
    events = [told | {"time": begin}, {"event": "end", "time": begin + 10, "exit_code": 0}]
    return "".join(json.dumps(event) + "\n" for event in events), text


@pytest.mark.parametrize(
    ("begin", "lives"), [(1020.0, [("worker:0", 2)]), (1005.0, [("worker:0", 1), ("worker:1", 1)])]
)
def test_a_recording_after_another_of_its_name_is_an_attempt(
    begin: float, lives: list[tuple[str, int]], make_run: Callable[[Mapping[str, str]], Path]
) -> None:
    """Named by their host, two processes at the same time are two workers."""
    (one, said), (other, said_later) = recorded(1000.0, LINE), recorded(begin, LINE + "training finished\n")
    run = {"vm/recording.jsonl": one, "vm/stdout.log": said}
    run |= {"vm.2/recording.jsonl": other, "vm.2/stdout.log": said_later}
    tables = load_tables(discover([make_run(run)]), our_rules())
    assert tables["lifetimes"].select("worker", "attempts").rows() == lives


def start(second: int) -> str:
    """Return the line of a server that started so many seconds into the job, and a step 5 s later."""
    at = 1795224703 + second
    return (
        f"I0000 00:00:{at}.563885 6 x.cc:1] Started server with target: grpc://a:2222\n"
        f"I0000 00:00:{at + 5}.000000 6 x.cc:2] running\n"
    )


@pytest.mark.parametrize(
    ("logs", "attempts"),
    [
        pytest.param({"0.log": start(0), "1.log": start(60)}, [1, 2], id="one after the other"),
        pytest.param({"a.log": start(60), "b.log": start(0)}, [2, 1], id="by time, not by name"),
        pytest.param(
            {"0.err": start(0), "0.out": LINE, "1.err": start(60), "1.out": LINE},
            [1, 1, 2, 2],
            id="with another channel each",
        ),
        pytest.param({"0.log": start(0), "1.log": start(0)}, [1, 1], id="near miss: copies of one log"),
        pytest.param({"0.log": start(0), "1.log": start(3)}, [1, 1], id="near miss: at the same time"),
        pytest.param(
            {"0.log": start(0), "1.log": start(60).partition("\n")[2]}, [1, 1], id="near miss: one process"
        ),
    ],
)
def test_logs_of_a_worker_that_follow_one_another_are_attempts(
    logs: Mapping[str, str], attempts: list[int], make_run: Callable[[Mapping[str, str]], Path]
) -> None:
    """The kubelet counts the restarts of a container in the names of its logs."""
    run = make_run({f"bert-worker-0/tensorflow/{name}": text for name, text in logs.items()})
    tables = load_tables(discover([run]), our_rules())
    assert tables["sources"].sort("source")["attempt"].to_list() == attempts
