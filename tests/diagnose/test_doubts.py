"""A job is called healthy at high confidence only where nothing speaks against it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from analyzer.diagnose.decide import capped, decide
from analyzer.model.findings import Finding, Outcome, Role, Verdict
from analyzer.model.run import Tables

TablesOf = Callable[[Mapping[str, str]], Tables]
DONE = "".join(f"step {n} loss {1 / n:.4f}\n" for n in range(1, 5)) + "training finished\n"


def context(*contradicts: str, role: Role = Role.CONTEXT) -> Finding:
    """A finding that fired."""
    return Finding("odd", "odd", role, Outcome.FIRED, summary="Losses are equal.", contradicts=contradicts)


def test_nothing_speaks_against_it(tables_of: TablesOf) -> None:
    """A finding that does not contradict it changes nothing, nor does a harmless one."""
    tables = tables_of({"worker-0.log": DONE, "exit_codes.txt": "worker-0 0\n"})
    decision = decide([context(), context("healthy", role=Role.BENIGN)], tables)
    assert (decision.verdict, decision.doubts, decision.confidence) == (Verdict.HEALTHY, (), 0.95)


def test_what_contradicts_it_is_told_and_lowers_the_confidence(tables_of: TablesOf) -> None:
    """Two observations lower it more than one; what is context stands in the notes already."""
    tables = tables_of({"worker-0.log": DONE, "exit_codes.txt": "worker-0 0\n"})
    one = decide([context("healthy")], tables)
    two = decide([context("healthy"), context("heal*", role=Role.SYMPTOM)], tables)
    assert (one.doubts, two.doubts) == ((), ("Losses are equal.",))
    assert 0.95 > one.confidence > two.confidence


def test_an_evaluator_that_crashed_speaks_against_it(tables_of: TablesOf) -> None:
    """One that was told to stop does not."""
    logs = {"worker-0.log": DONE, "evaluator-0.log": "evaluating\n"}
    crashed = tables_of(logs | {"exit_codes.txt": "worker-0 0\nevaluator-0 -11\n"})
    stopped = tables_of(logs | {"exit_codes.txt": "worker-0 0\nevaluator-0 -15\n"})
    assert decide([], crashed).doubts == ("evaluator:0 was ended by a signal (SIGSEGV).",)
    assert decide([], stopped).doubts == ()


def test_a_form_of_lines_that_is_not_known_leaves_the_end_open(tables_of: TablesOf) -> None:
    """What says `finished` may be of another program; what TensorFlow says is hardly read."""
    said = "wrapper says 2026-11-21 00:05:01.083826: I tensorflow/core/util/port.cc:113] oneDNN is on.\n"
    tables = tables_of({"worker-0.log": said * 5 + DONE * 5})
    assert decide([], tables).verdict is Verdict.INCONCLUSIVE
    sure = [context()._replace(role=Role.CAUSE, cause="x.killed", confidence=0.9, despite_finish=True)]
    _, decision = capped(sure, decide(sure, tables), tables)
    assert decision.confidence == 0.6


def test_notes_in_an_unknown_form_beside_the_logs_of_workers_open_nothing(tables_of: TablesOf) -> None:
    """They are of no worker."""
    said = "wrapper says 2026-11-21 00:05:01.083826: I tensorflow/core/util/port.cc:113] oneDNN is on.\n"
    tables = tables_of({"worker-0.log": DONE, "notes.txt": said * 5 + "and more\n" * 9})
    assert decide([], tables).verdict is Verdict.HEALTHY
