"""What the head of a report answers of jobs that reached their end."""

from typing import Any

import pytest

from analyzer.render import decision, render
from tests.render.documents import load


def answers(told: Any, **action: Any) -> dict[str, str]:
    """Question → answer and detail, of a diagnosis with another action."""
    given = decision.answers(told | {"action": told["action"] | action})
    return {each.question: f"{each.answer} ({each.detail})" for each in given}


def test_a_slow_job_that_reached_its_end_needs_no_restart() -> None:
    """Whatever a rule does not know of a restart."""
    slow = load("r101") | {"verdict": "degraded"}
    assert answers(slow, retry="unknown")["Restart as is?"] == "Unknown (not enough data)"
    for worker in slow["workers"]:
        worker["ended"]["how"] = "finished"
    assert answers(slow, retry="unknown")["Restart as is?"] == "Not needed (the job reached its end)"


def test_the_last_step_of_a_healthy_job_has_its_epoch() -> None:
    """Under `fit`, step 20 is one of the epoch."""
    told = load("r101") | {"verdict": "healthy"}
    for worker in told["workers"]:
        worker["last_step"] = {"epoch": 3, "step": 20}
    assert answers(told)["Last step"] == "epoch 3, step 20 ()"


def test_a_checkpoint_that_could_not_be_restored_is_not_unneeded() -> None:
    """Without a step there is none of this run; where it tried another run's, not that one."""
    told = load("r101")
    for worker in told["workers"]:
        worker |= {"curves": [], "last_step": {"epoch": None, "step": None}}
    assert answers(told)["From which checkpoint?"] == "Not needed (no step found in the files)"
    tried = answers(told | {"cause": "checkpoint.incompatible"})
    assert tried["From which checkpoint?"] == "Not the one it tried (it could not be restored)"


def test_a_damaged_checkpoint_sends_to_an_earlier_one() -> None:
    """The answer to both questions, whatever the rule says of a restart as it is."""
    given = answers(load("r101"), retry="as_is", checkpoint="earlier", resume_from="ckpt-40")
    assert given["Restart as is?"].startswith("Yes, but from an earlier checkpoint")
    assert given["From which checkpoint?"] == "An earlier one (ckpt-40 may hold the damage)"


@pytest.mark.parametrize(
    ("files", "named"),
    [
        (["worker-2.log"], "worker:1: worker-2.log"),
        (["launcher.log#worker-2", "worker-2.log"], "worker:1: worker-2.log"),
        (["host.txt", "job.log#trainer.2"], "worker:1: job.log#trainer.2"),
        (["train_48213.log"], None),
        (["worker-1.log"], None),
        ([], None),
    ],
    ids=["counted from 1", "a stream beside it", "a stream", "another number", "the index", "no file"],
)
def test_a_file_with_another_number_than_its_task_is_named(files: list[str], named: str | None) -> None:
    """Else who reads of worker:1 opens worker-1.log; a number without a role may be any."""
    told = load("r101") | {"culprits": ["worker:1"], "suspects": []}
    source = told["sources"][0]
    told["sources"] = [source | {"name": name, "kind": "log" if "log" in name else "other"} for name in files]
    for worker in told["workers"]:
        worker |= {"sources": files if worker["id"] == "worker:1" else ["worker-7.log"]}
    answer = [(each.question, each.answer) for each in decision.guess(told)]
    assert answer == ([("Which log is it?", named)] if named else [])
    page = render(told, "html")
    assert ("<span>log of <bdi>" in page) is bool(named)
    assert not named or f"<span>log of <bdi>{named}</bdi> (its name has another number" in page
