"""What explains what, and what cannot be true together."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.diagnose.explanations import precedence, relate
from analyzer.model.findings import Evidence, Finding, Outcome, Role


def finding(
    rule: str, confidence: float, *, explains: tuple[str, ...] = (), contradicts: tuple[str, ...] = ()
) -> Finding:
    """A cause that fired."""
    return Finding(
        rule, rule, Role.CAUSE, Outcome.FIRED, f"peer.{rule}",
        confidence=confidence, explains=explains, contradicts=contradicts,
    )  # fmt: skip


@pytest.mark.parametrize("says", ["killed", "preempted"])
@pytest.mark.parametrize("name", ["rule", "cause"])
def test_of_two_that_contradict_each_other_the_surer_one_stands(says: str, name: str) -> None:
    """Whichever of the two says so, of the other's rule or of its cause."""
    other = {"killed": "preempted", "preempted": "killed"}[says]
    contradicts: dict[str, tuple[str, ...]] = {
        says: (other if name == "rule" else f"peer.{other}",),
        other: (),
    }
    killed, preempted = relate(
        [
            finding("killed", 0.9, contradicts=contradicts["killed"]),
            finding("preempted", 0.6, contradicts=contradicts["preempted"]),
        ]
    )
    assert killed.contradicted_by == ()
    assert preempted.contradicted_by == ("killed",)


def test_what_is_quiet_contradicts_nothing() -> None:
    """It was not found."""
    quiet = finding("killed", 0.9, contradicts=("preempted",))._replace(outcome=Outcome.QUIET)
    assert relate([quiet, finding("preempted", 0.6)])[1].contradicted_by == ()


def test_of_two_that_explain_each_other_the_surer_one_does() -> None:
    """Else neither would be left."""
    one, two = relate([finding("a", 0.5, explains=("b",)), finding("b", 0.7, explains=("a",))])
    assert (one.explained_by, two.explained_by) == (("b",), ())


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"cause": "config.z"}, {"cause": "hang.a"}),
        ({"culprits": ("worker:1",)}, {"suspects": ("worker:1", "worker:2")}),
        ({"suspects": ("worker:1", "worker:2")}, {}),
        ({"evidence": (Evidence("", "line", time=5.0),)}, {"evidence": (Evidence("", "line", time=9.0),)}),
    ],
    ids=["fault before its look", "named", "suspected", "earlier"],
)
def test_of_two_equally_sure_ones_the_telling_one_goes_first(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    """Whatever the rules are called."""
    telling, other = finding("z", 0.78)._replace(**first), finding("a", 0.78)._replace(**second)
    assert sorted([other, telling], key=precedence) == [telling, other]
    surer = other._replace(confidence=0.9)
    assert sorted([telling, surer], key=precedence) == [surer, telling]


def _own_fault(rule: str, cause: str, worker: str, time: float | None) -> Finding:
    """A fault of one worker, with the line that shows it."""
    line = Evidence("", "line", worker, f"{worker}.log", 9, time=time)
    return finding(rule, 0.78, explains=("user.*",))._replace(
        cause=cause, culprits=(worker,), about=(worker,), evidence=(line,)
    )


@pytest.mark.parametrize(
    ("cause", "worker", "time", "explained"),
    [
        ("user.exception", "worker:1", 100.0, False),
        ("user.exception", "worker:1", 103.5, True),
        ("user.exception", "worker:1", None, True),
        ("user.exception", "worker:1", 104.0 - 7_200, True),
        ("user.exception", "worker:2", 100.0, True),
    ],
    ids=["seconds before", "clocks may be apart", "no time", "another time zone", "of the same worker"],
)
def test_a_later_fault_explains_no_earlier_one_of_another_worker(
    cause: str, worker: str, time: float | None, explained: bool
) -> None:
    """Both failed by themselves, and the first of them is no consequence of the second."""
    disk = _own_fault("disk", "resource.disk_full", "worker:2", 104.0)
    _, raised = relate([disk, _own_fault("raised", cause, worker, time)])
    assert bool(raised.explained_by) is explained
