"""What explains what, and which cause stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from analyzer.diagnose.decide import decide, stated_failure
from analyzer.diagnose.explanations import relate
from analyzer.diagnose.phrasing import summary, why
from analyzer.model.findings import Finding, Outcome, Role, Verdict
from analyzer.model.run import Tables

TablesOf = Callable[[Mapping[str, str]], Tables]

STEPS = "step 1 loss 0.5\nstep 2 loss 0.4\n"


def fired(rule: str, confidence: float, **parts: Any) -> Finding:
    """A cause that fired."""
    return Finding(
        rule=rule,
        title=rule,
        role=Role.CAUSE,
        outcome=Outcome.FIRED,
        cause=f"x.{rule}",
        confidence=confidence,
        **parts,
    )


def test_a_cause_outranks_what_it_explains_however_sure_that_is(tables_of: TablesOf) -> None:
    """A full disk explains the exception, which is certain too."""
    tables = tables_of({"worker-0.log": STEPS})
    decision = decide(relate([fired("disk", 0.6, explains=("x.exc*",)), fired("exception", 0.95)]), tables)
    assert decision.cause == "x.disk"
    assert [finding.rule for finding, _ in decision.rejected] == ["exception"]


def test_where_two_explain_each_other_the_surer_one_does() -> None:
    """Otherwise neither would stand."""
    one, two = relate([fired("one", 0.6, explains=("x.two",)), fired("two", 0.8, explains=("x.one",))])
    assert (one.explained_by, two.explained_by) == (("two",), ())


def test_a_failed_cause_comes_before_a_degraded_one(tables_of: TablesOf) -> None:
    """Unsharded data does not end a job."""
    tables = tables_of({"worker-0.log": STEPS})
    decision = decide([fired("unsharded", 0.9, verdict=Verdict.DEGRADED), fired("killed", 0.7)], tables)
    assert decision.cause == "x.killed"


def test_a_job_that_reached_its_end_did_not_fail(tables_of: TablesOf) -> None:
    """Unless the cause stands despite it, as NaN does."""
    tables = tables_of({"worker-0.log": STEPS + "training finished\n"})
    assert decide([fired("killed", 0.9)], tables).verdict is Verdict.HEALTHY
    assert decide([fired("nan", 0.9, despite_finish=True)], tables).verdict is Verdict.FAILED


def test_a_healthy_summary_tells_of_an_attempt_that_failed(tables_of: TablesOf) -> None:
    """Only of a job that needed one attempt is it said that nothing failed."""
    done = STEPS + "training finished\n"
    once, again = (
        tables_of({"worker-0.log": done}),
        tables_of({"worker-0-attempt-1.log": STEPS, "worker-0-attempt-2.log": done}),
    )
    killed = fired("killed", 0.9, summary="worker:0 was killed")
    ended = "worker:0 reached the planned end."
    assert summary(decide([killed], once), once) == f"Nothing failed: {ended}"
    assert summary(decide([], again), again) == f"After a restart, {ended}"
    assert summary(decide([killed], again), again) == (
        f"An earlier attempt failed (worker:0 was killed), and the last one ended well: {ended}"
    )


def test_what_befell_an_evaluator_degrades_a_training_that_ended_well(tables_of: TablesOf) -> None:
    """The model is usable, and its evaluation is incomplete; it takes no part in the training."""
    tables = tables_of({"chief-0.log": STEPS + "training finished\n", "evaluator-0.log": "evaluating\n"})
    decision = decide([fired("labels", 0.9, about=("evaluator:0",), why=("It raised.",))], tables)
    assert (decision.verdict, decision.cause) == (Verdict.DEGRADED, "x.labels")
    assert "only the evaluation by evaluator:0 is incomplete" in why(decision, tables)[0]
    assert decide([fired("labels", 0.9)], tables).verdict is Verdict.HEALTHY


def test_a_training_with_parameter_servers_that_ended_without_a_worker_is_degraded(
    tables_of: TablesOf,
) -> None:
    """It raised before its first step, and nobody waited for it; one whose own end nothing shows is no loss."""
    done, bad = STEPS + "training finished\n", "Traceback (most recent call last):\nValueError: bad row\n"
    raised = fired("bug", 0.8, culprits=("worker:0",), about=("worker:0",), why=("It raised.",))
    tables = tables_of({"chief-0.log": done, "ps-0.log": "serving\n", "worker-0.log": bad})
    decision = decide([raised], tables)
    assert (decision.verdict, decision.cause) == (Verdict.DEGRADED, "x.bug")
    assert why(decision, tables)[0].endswith("but worker:0 took no part in it.")
    serves = tables_of({"chief-0.log": done, "ps-0.log": "serving\n", "worker-0.log": "serving\n"})
    assert decide([raised], serves).verdict is Verdict.HEALTHY


def test_an_evaluator_explains_no_failure_of_the_training(tables_of: TablesOf) -> None:
    """Its failure is shown, and the training has another cause, known or not; a cluster that lists it may be one."""
    raised = STEPS + "Traceback (most recent call last):\nValueError: bad row\n"
    tables = tables_of({"chief-0.log": raised, "evaluator-0.log": "evaluating\n"})
    labels = fired("labels", 0.9, about=("evaluator:0",), explains=("x.bug",))
    bug = fired("bug", 0.6, culprits=("chief:0",))
    assert decide(relate([labels, bug]), tables).cause == "x.bug"
    alone = decide(relate([labels]), tables)
    assert (alone.verdict, alone.cause) == (Verdict.FAILED, "unknown")
    assert alone.rejected[0][1] == "An evaluator takes no part in training, which failed as well."
    listed = labels._replace(cause="config.evaluator_in_cluster")
    assert decide(relate([listed, bug]), tables).chosen == listed


def test_without_a_cause_the_ends_of_the_workers_speak(tables_of: TablesOf) -> None:
    """Unknown where something broke, inconclusive where nothing says so."""
    assert decide([], tables_of({"worker-0.log": STEPS})).verdict is Verdict.INCONCLUSIVE
    broken = decide([], tables_of({"worker-0.log": STEPS, "exit_codes.txt": "worker-0 7\n"}))
    assert (broken.verdict, broken.cause) == (Verdict.FAILED, "unknown")


@pytest.mark.parametrize(
    ("seconds", "said"), [(40, "worker:1 was lost, and the job continued without it"), (11, "Nothing failed")]
)
def test_a_worker_that_a_coordinator_replaced_is_not_passed_over(
    seconds: int, said: str, tables_of: TablesOf
) -> None:
    """If it was lost just before the end, it may have ended with the job."""
    lost = (
        "2026-11-25 16:36:10.5: W a.cc:1] failed to connect to all addresses\n"
        "Additional GRPC error information from remote target /job:worker/replica:0/task:1 while calling "
        "/tensorflow.eager.EagerService/Enqueue:\n"
    )
    done = f"2026-11-25 16:36:{seconds}.5: I a.cc:1] last batch\ntraining finished\n"
    served = ("worker-0.log", "worker-1.log", "ps-0.log")
    tables = tables_of({"chief-0.log": STEPS + lost + done, **dict.fromkeys(served, "server up\n")})
    assert summary(decide([], tables), tables) == f"{said}: chief:0 reached the planned end."


@pytest.mark.parametrize(
    ("below", "said"),
    [("", "lost and came back"), ("again", "lost, and the job continued without it")],
    ids=["recovered", "recovered, and lost again"],
)
def test_a_worker_that_a_coordinator_took_up_again_came_back(
    below: str, said: str, tables_of: TablesOf
) -> None:
    """What the coordinator says last counts."""
    lost = (
        "2026-11-25 16:36:10.5: W a.cc:1] failed to connect to all addresses\n"
        "Additional GRPC error information from remote target /job:worker/replica:0/task:1 while calling "
        "/tensorflow.eager.EagerService/Enqueue:\n"
        "ERROR:tensorflow:Worker /job:worker/replica:0/task:1 failed with UnavailableError():Socket closed\n"
    )
    back = "INFO:tensorflow:Worker /job:worker/replica:0/task:1 has been recovered.\n"
    done = "2026-11-25 16:36:40.5: I a.cc:1] last batch\ntraining finished\n"
    log = STEPS + lost + back + (lost if below else "") + done
    tables = tables_of({"chief-0.log": log, **dict.fromkeys(("worker-0.log", "worker-1.log"), "server up\n"),
                        "ps-0.log": "server up\n"})  # fmt: skip
    assert summary(decide([], tables), tables) == f"worker:1 was {said}: chief:0 reached the planned end."


@pytest.mark.parametrize(
    ("rows", "verdict", "says"),
    [
        (["7|FAILED|1:0"], Verdict.FAILED, "The scheduler reports that the job failed with exit code 1 (sacct.txt:2)."),
        (["7|FAILED|1:0", "7|RUNNING|0:0"], Verdict.INCONCLUSIVE, ""),
        (["7|COMPLETED|0:0"], Verdict.INCONCLUSIVE, ""),
    ],
    ids=["failed", "failed, and requeued", "completed"],
)  # fmt: skip
def test_the_scheduler_alone_says_that_the_job_failed(
    tables_of: TablesOf, rows: list[str], verdict: Verdict, says: str
) -> None:
    """No log was collected; that the script returned 0 says little of its workers."""
    tables = tables_of({"sacct.txt": "\n".join(["JobID|State|ExitCode", *rows, ""])})
    assert decide([], tables).verdict is verdict
    assert stated_failure(tables["facts"]) == says


_FAR = "".join(
    f"Epoch {epoch}/10\n90/90 - 58s - loss: {1 / epoch:.4f} - 58s/epoch - 640ms/step\n" for epoch in (1, 2, 3)
)
_LAST = _FAR + "Epoch 10/10\n90/90 - 58s - loss: 0.1333 - 58s/epoch - 640ms/step\n"
_NO_BETTER = "Epoch 10/10\n90/90 - 58s - loss: 0.3333 - 58s/epoch - 640ms/step\n"


@pytest.mark.runs
@pytest.mark.parametrize(
    ("log", "confidence"),
    [
        (_FAR, 0.6),
        ("".join(f"step {step}/10000 loss 0.5\n" for step in (80, 90)), 0.6),
        (_LAST, 0.95),
        (_FAR + "Epoch 3: early stopping\n", 0.95),
        (_FAR + "training finished\n", 0.95),
        ("step 9800/10000 loss 0.5\nstep 9900/10000 loss 0.5\n", 0.75),
        ("epoch 8/10 loss 0.5\nepoch 9/10 loss 0.4\n", 0.95),
        (_NO_BETTER, 0.78),
        ("step 1 loss 0.5\nstep 2 loss 0.5\ntraining finished\n", 0.78),
        ("step 1 accuracy 0.5\nstep 2 accuracy 0.6\ntraining finished\n", 0.95),
        ("training finished\n", 0.78),
    ],
    ids=[
        "epochs",
        "steps",
        "done",
        "stopped early",
        "said so",
        "steps that no line shows",
        "epochs from 0",
        "one value",
        "a loss that stays",
        "an accuracy that rises",
        "no value",
    ],
)
def test_an_end_far_from_the_plan_is_doubted(tables_of: TablesOf, log: str, confidence: float) -> None:
    """Exit code 0 does not show that the training was done; EarlyStopping may say nothing.

    Nor does an end show that the model learned: that takes a loss, an error or a score that became better.
    """
    tables = tables_of(
        {"worker-0.log": log, "worker-1.log": log, "exit_codes.txt": "worker-0 0\nworker-1 0\n"}
    )
    decision = decide([], tables)
    assert (decision.verdict, decision.confidence) == (Verdict.HEALTHY, confidence)
    doubted = "though much of the plan was left" in summary(decision, tables)
    assert doubted == (confidence == 0.6)
