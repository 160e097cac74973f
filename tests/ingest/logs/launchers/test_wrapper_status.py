"""The exit status below the output of a worker, in the words of the script that started it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from analyzer.model.run import Tables

TablesOf = Callable[[Mapping[str, str]], Tables]
STEPS = "step 1 loss 0.7\nstep 2 loss 0.6\n"


@pytest.mark.parametrize(
    ("end", "code"),
    [
        ("*** exit 139 ***", "-11"),
        ("2026-11-20 10:10:01 python3 fit.py exited, status 134", "-6"),
        ("[entry.sh]: rc = 137", "-9"),
        ("Job finished with exit status 3", "3"),
        ("+ exit 143\n", "-15"),
        ("return code: -9", "-9"),
        ("EXIT 137\nreal\t0m9.1s\nuser\t0m2.1s\nsyncing logs to gs://acme/7\ndone", "-9"),
        ("signal: segmentation fault (core dumped)", "-11"),
        ("fit.py was killed by signal 7", "-7"),
        ("exited abnormally (137)", "-9"),
    ],
)
def test_the_last_line_may_state_the_status(end: str, code: str, tables_of: TablesOf) -> None:
    """Below it, only the wrapper itself may have written."""
    facts = tables_of({"worker-1.log": f"{STEPS}{end}\n", "worker-0.log": STEPS})["facts"]
    assert facts.filter(key="exit_code").select("worker", "value").rows() == [("worker:1", code)]


@pytest.mark.parametrize(
    "end",
    [
        "exit 137\nstep 3 loss 0.5",
        "exit 137\nINFO:tensorflow:Saving checkpoints for 2 into model.ckpt.",
        "exit 137\nsaving the model once more",
        "exit 137 nodes of the graph were pruned",
        "hint: a worker that ends with exit 137 lacks memory",
        "INFO eval: rc=137",
        "rc=0.137",
        "ret=-1",
        "rc: 3",
        "status 4",
        "exit 0",
        "upload.sh: exit 1",
    ],
)
def test_what_else_looks_like_a_status(end: str, tables_of: TablesOf) -> None:
    """The program went on, or speaks of something else; a zero may be the status of `tee`."""
    facts = tables_of({"worker-1.log": f"{STEPS}{end}\n", "worker-0.log": STEPS})["facts"]
    assert facts.filter(key="exit_code").is_empty()


def test_a_status_may_name_another_worker(tables_of: TablesOf) -> None:
    """As the log of one that started the others does."""
    facts = tables_of({"worker-0.log": f"{STEPS}worker 1 exited 139\n", "worker-1.log": STEPS})["facts"]
    assert facts.filter(key="exit_code").select("worker", "value").rows() == [("worker:1", "-11")]


def test_an_older_part_of_a_log_states_no_end(tables_of: TablesOf) -> None:
    """What stands below it is in the part that follows."""
    facts = tables_of({"worker-0.log.1": f"{STEPS}EXIT 137\n", "worker-0.log": "step 3 loss 0.5\n"})["facts"]
    assert facts.filter(key="exit_code").is_empty()
