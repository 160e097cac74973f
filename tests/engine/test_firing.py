"""What a rule that fired says of the workers that it does not blame, and of a restart."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analyzer.discover import discover
from analyzer.engine.evaluate import match
from analyzer.engine.roster import Roster, blamed
from analyzer.model.findings import Finding
from analyzer.pipeline import load_tables
from tests.rules import our_rules

MISSING = """\
step 6 loss 0.5
Traceback (most recent call last):
  File "/workspace/train.py", line 5, in <module>
    open("/data/shard-0007.tfrecord")
FileNotFoundError: [Errno 2] No such file or directory: '/data/shard-0007.tfrecord'
"""


@pytest.mark.runs
@pytest.mark.parametrize(("code", "held_up"), [("worker-0 0\n", False), ("", True)])
def test_a_worker_that_exited_with_0_did_not_wait_for_another(
    code: str, held_up: bool, make_run: Callable[[Mapping[str, str]], Path]
) -> None:
    """One of which no end is known may have."""
    files = {"worker-0.log": "step 6 loss 0.5\nstep 10 loss 0.4\n", "worker-1.log": MISSING}
    run = make_run({**files, "exit_codes.txt": f"{code}worker-1 1\n"})
    found = {each.rule: each for each in match(our_rules(), load_tables(discover([run]), our_rules()))}
    told = "worker:0 failed or waited because worker:1 was gone." in found["missing-file"].why
    assert (found["missing-file"].culprits, told) == (("worker:1",), held_up)


@pytest.mark.parametrize("end", ["unknown", "exited", "finished"])
def test_a_rule_that_holds_for_every_training_worker_blames_nobody(end: str) -> None:
    """Whether or not exit codes are here; for one of two, it does."""
    exited = {"seen": True, "ended": end, "no_exception": True, "exit_code": 7 if end == "exited" else None}
    two = ("worker:0", "worker:1")
    endings = {worker: {"worker": worker, **exited} for worker in two}
    roster = Roster(two, dict.fromkeys(two), two[0], endings, lambda worker: endings[worker], dict)
    (rule,) = (each for each in our_rules().rules if each.id == "worker-crashed")
    assert blamed(rule, two, roster) == ((), ())
    assert blamed(rule, two[:1], roster) == (two[:1], ())


@pytest.mark.parametrize(("code", "is_suspect"), [(2, True), (1, False), (0, False)])
def test_a_worker_is_a_suspect_if_another_exited_with_its_error_code(code: int, is_suspect: bool) -> None:
    """A script that rejects its options exits with 2 and raises nothing, on one worker as on all."""
    codes = {"worker:0": code, "worker:1": 2}
    exited = {"seen": True, "ended": "exited", "no_exception": True}
    endings = {worker: {"worker": worker, **exited, "exit_code": value} for worker, value in codes.items()}
    roster = Roster(
        (*codes,), dict.fromkeys(codes), "worker:0", endings, lambda worker: endings[worker], dict
    )
    (rule,) = (each for each in our_rules().rules if each.id == "options-refused")
    own = ("worker:1",)
    assert blamed(rule, own, roster) == (((), own) if is_suspect else (own, ()))


@pytest.mark.runs
@pytest.mark.parametrize(("kills", "condition"), [(0, ""), (None, "memory was the reason")])
def test_a_condition_that_the_files_rule_out_is_no_condition(
    kills: int | None, condition: str, make_run: Callable[[Mapping[str, str]], Path]
) -> None:
    """The kernel counts the processes of a control group that it killed for memory."""
    group = {} if kills is None else {"cgroup": {"memory_events": {"oom_kill": kills}}}
    at = {"time": 1766400001.0, "monotonic": 5001.0}
    killed = {"exit_code": None, "signal": {"number": 9, "name": "SIGKILL"}}
    events = ({"event": "facts", **at, **group}, {"event": "end", **at, **killed, **group})
    lines = "".join(f"{json.dumps(event)}\n" for event in events)
    run = make_run({"worker-0/recording.jsonl": lines, "worker-0/stdout.log": "step 3 loss 0.5\n"})
    found = {each.rule: each for each in match(our_rules(), load_tables(discover([run]), our_rules()))}
    assert (found["worker-killed"].culprits, found["worker-killed"].action.unless) == (
        ("worker:0",),
        condition,
    )


def raising(*errors: str) -> dict[str, str]:
    """The logs of workers that raised these."""
    head = (
        'step 6 loss 0.5\nTraceback (most recent call last):\n  File "/app/train.py", line {}, in <module>\n'
    )
    return {f"worker-{n}.log": f"{head.format(20 + n)}    f()\n{error}\n" for n, error in enumerate(errors)}


@pytest.mark.runs
def test_different_exceptions_are_told_each_of_its_worker(
    make_run: Callable[[Mapping[str, str]], Path],
) -> None:
    """No worker is said to have raised that of another; one exception of all is told once."""

    def found(logs: Mapping[str, str]) -> Finding:
        findings = match(our_rules(), load_tables(discover([make_run(logs)]), our_rules()))
        return next(each for each in findings if each.rule == "user-exception")

    alike = {name: log.replace("line 21", "line 20") for name, log in raising(*["KeyError: 'a'"] * 2).items()}
    assert found(alike).summary == "worker:0 and worker:1 raised KeyError: 'a'"
    three = found(raising("ValueError: shape", "KeyError: 'a'", "ZeroDivisionError: by zero"))
    assert three.summary == (
        "worker:0 raised ValueError: shape; worker:1 raised KeyError: 'a'; worker:2 raised ZeroDivisionError: by zero"
    )
    assert not any("traceback ends" in reason for reason in three.why)
    assert [step.text.split(";")[0][-24:] for step in three.next[:3]] == [
        f"/app/train.py:{line} in <module>"[-24:] for line in (20, 21, 22)
    ]
    five = found(raising("AError: a", "BError: b", "CError: c", "DError: d", "EError: e"))
    assert five.summary.endswith("worker:2 raised CError: c; and 2 more")
