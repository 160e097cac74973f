"""When and where a job failed, as the head of every report says it."""

from typing import Any

import pytest

from analyzer.render import decision, phrasing, render
from analyzer.render.text import _marked_part
from tests.render.documents import load

Json = Any


def event(worker: str, kind: str, time: float | None) -> Json:
    """Make an event."""
    return {
        "n": 1,
        "worker": worker,
        "kind": kind,
        "time": time,
        "text": f"what {kind} says",
        "source": None,
        "line": None,
    }


def failed(cause: str, *events: Json, **more: Any) -> Json:
    """Make a failed run of two workers, of which the second is the culprit, on a host of its own."""
    workers = [
        {"id": f"worker:{n}", "host": f"gpu-{n}", "attempts": 1, "last_step": {"epoch": None, "step": 40 - n}}
        for n in (0, 1)
    ]
    run = {"verdict": "failed", "cause": cause, "culprits": ["worker:1"], "suspects": [], "workers": workers}
    return run | {"run": {"time_zone": "UTC"}, "timeline": [*events]} | more


def test_a_condition_stands_in_the_answer() -> None:
    """Who reads only the first words of it must not restart a job that runs out of memory again."""
    action = {"retry": "as_is", "owner": "platform", "unless": "memory was the reason"}
    told = load("r101") | {"action": load("r101")["action"] | action}
    restart = decision.answers(told)[0]
    assert restart.answer == "Yes, unless memory was the reason"
    assert restart.detail == "rule that out first"


@pytest.mark.parametrize(
    ("cause", "kinds", "seconds"),
    [
        ("user.exception", ("last_step", "error", "end"), 1),
        ("peer.killed", ("last_step", "silence"), 1),
        ("hang.collective_stalled", ("last_step", "end"), 0),
        ("numeric.nan_loss", ("last_step", "nonfinite", "end"), 1),
    ],
)
def test_the_time_is_that_of_what_failed(cause: str, kinds: tuple[str, ...], seconds: int) -> None:
    """Not that of a victim's error, nor that of the culprit's end where something came before."""
    events = [event("worker:1", kind, 100.0 + n) for n, kind in enumerate(kinds)]
    (row,) = decision.failure(failed(cause, event("worker:0", "error", 90.0), *events))
    after = "after " * cause.startswith("hang")
    assert row.answer == f"{after}00:01:{40 + seconds}.000 UTC on gpu-1"
    reached = "what nonfinite says" if cause == "numeric.nan_loss" else "all workers reached step 39"
    assert row.detail == reached


@pytest.mark.parametrize(
    ("bounds", "answer"),
    [
        ({"after": 60.0}, "after 00:01:00.000 UTC on gpu-1"),
        (
            {"after": 60.0, "before": 65.0},
            "between 00:01:00.000 UTC and 00:01:05.000 UTC on gpu-1",
        ),
    ],
)
def test_the_last_dated_line_is_not_the_failure(bounds: dict[str, float], answer: str) -> None:
    """It bounds the time from below, and a report of a peer from above."""
    killed = event("worker:1", "end", 60.0) | bounds
    assert decision.failure(failed("peer.killed", killed))[0].answer == answer


def test_of_several_suspects_the_first_error_counts() -> None:
    """The later ones follow from it; a culprit's last error is that of its last attempt."""
    errors = [
        event("worker:0", "error", 70.0),
        event("worker:1", "error", 60.0),
        event("worker:1", "error", 80.0),
    ]
    suspected = failed("api.collective_mismatch", *errors, culprits=[], suspects=["worker:0", "worker:1"])
    assert decision.failure(suspected)[0].answer == "00:01:00.000 UTC"
    assert decision.failure(failed("user.exception", *errors))[0].answer == "00:01:20.000 UTC on gpu-1"


def test_of_several_culprits_the_first_to_fail_counts() -> None:
    """By the last error of each in its only attempt; of a job that was restarted, the last attempt's."""
    errors = [
        event("worker:0", "error", 70.0),
        event("worker:1", "error", 60.0),
        event("worker:1", "error", 65.0),
    ]
    both = failed("user.exception", *errors, culprits=["worker:0", "worker:1"])
    assert decision.failure(both)[0].answer.startswith("00:01:05.000 UTC")
    for worker in both["workers"]:
        worker["attempts"] = 2
    assert decision.failure(both)[0].answer.startswith("00:01:10.000 UTC")


def test_nothing_is_made_up() -> None:
    """Neither a time of a loss that has none, nor a row without a time and a host, nor one of a good run."""
    undated = failed("numeric.nan_loss", event("worker:1", "nonfinite", None), event("worker:1", "end", 9.0))
    assert decision.failure(undated)[0].answer == "Unknown time on gpu-1"
    for worker in undated["workers"]:
        worker["host"] = None
    assert decision.failure(undated) == []
    assert decision.failure(undated | {"verdict": "healthy"}) == []


def test_every_format_that_people_read_says_it() -> None:
    """As a row in text and posts, above the answers on the page."""
    made = load("r101")
    (row,) = decision.failure(made)
    for name in ("html", "text", "markdown"):
        assert row.answer in render(made, name), name


def test_the_page_lists_no_bound_as_a_time() -> None:
    """The time of an earlier line, before an event that has none, reads as such."""
    made = load("r101")
    for each in made["timeline"]:
        each.pop("after", None)
    assert '<td class="time">after ' not in render(made, "html")
    dated = next(each for each in made["timeline"] if each["time"] is not None)
    dated["after"] = dated["time"]
    assert render(made, "html").count('<td class="time">after ') == 1


def test_only_files_that_could_change_the_answer_are_asked_for() -> None:
    """No traces beside a SIGKILL; all of them where the cause is unknown."""
    made = load("r101")
    recipe = {"kind": "trace", "what": "traces", "how": "profile", "docs": "docs/collect.md", "commands": []}
    finding = made["findings"][-1] | {"lacks": "trace", "role": "cause", "cause": "perf.straggler"}
    made |= {"collect": [recipe], "findings": [*made["findings"], finding]}
    assert phrasing.uncollected(made | {"cause": "peer.killed"}) == []
    for cause, verdict in ((None, "inconclusive"), ("unknown", "failed"), ("perf.network_bound", "degraded")):
        assert len(phrasing.uncollected(made | {"cause": cause, "verdict": verdict})) == 1


def test_the_words_that_prove_it_are_shown_whole() -> None:
    """A shape mismatch names both shapes, and the second lies beyond the first line."""
    said = (
        "x" * 90
        + "Op expected shape [1352,64] but another member in the group expected shape [1352,128] !" * 1
    )
    start, end = said.index("Op"), said.index(" !")
    shown = _marked_part({"excerpt": said, "marks": [[start, end]]}, 80)
    assert said[start:end] in shown
    assert len(shown) < 80 + 40
    placed = f"2026-11-21 05:27:37.725301: W external/xla/tsl/distributed_runtime/notifier.cc:89] {'x' * 50}"
    assert _marked_part({"excerpt": placed, "marks": []}, 80) == f"…notifier.cc:89] {'x' * 50}"
    named = f"UnavailableError: {{{{function_node __wrapped__{'x' * 50}}}}} Collective ops is aborted"
    assert (
        _marked_part({"excerpt": named, "marks": []}, 80) == "UnavailableError: … Collective ops is aborted"
    )
    printed = f"E0000 00:00:1795233427.315968    8419 base_collective.cc:252] {'x' * 50}"
    assert _marked_part({"excerpt": printed, "marks": []}, 80) == f"…base_collective.cc:252] {'x' * 50}"
    assert _marked_part({"excerpt": printed, "marks": []}, 200) == printed
    assert _marked_part({"excerpt": "a\n" + "b" * 200, "marks": []}, 80) == "a\n" + "b" * 77 + "…"


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ((1, 1), "all workers reached step 39"),
        ((3, 3), "all workers made 3 attempts, this is the last; all workers reached step 39"),
        ((1, 2), "worker:1 made 2 attempts, this is the last; all workers reached step 39"),
        ((3, 2), "all workers made up to 3 attempts, this is the last; all workers reached step 39"),
    ],
)
def test_attempts_are_counted(made: tuple[int, int], said: str) -> None:
    """The best reason not to start a job again is that this was tried."""
    run = failed("user.exception", event("worker:1", "error", 60.0))
    for worker, attempts in zip(run["workers"], made, strict=True):
        worker["attempts"] = attempts
    assert [answer.detail for answer in decision.failure(run)] == [said]


@pytest.mark.parametrize(("attempt", "said"), [(2, "attempt 2"), (3, "the last"), (None, "the last")])
def test_the_attempt_that_failed_is_named(attempt: int | None, said: str) -> None:
    """A container that has just been restarted has logged no error yet: the report is on the attempt before."""
    raised = event("worker:1", "error", 60.0) | ({"attempt": attempt} if attempt else {})
    run = failed("user.exception", raised)
    for worker in run["workers"]:
        worker["attempts"] = 3
    (answer,) = decision.failure(run)
    assert f"all workers made 3 attempts, this is {said};" in answer.detail


def test_the_only_worker_dates_a_failure_that_nobody_is_blamed_for() -> None:
    """And the end of the whole job does; that of one of several workers does not."""
    told = failed("unknown", event("worker:1", "end", 100.0), culprits=[])
    assert decision.failure(told) == []
    assert decision.failure(told | {"workers": told["workers"][1:]})[0].answer.startswith("00:01:40")
    of_job = failed(
        "peer.preempted", event("worker:1", "end", 90.0), event("", "end", 100.0) | {"worker": None}
    )
    assert decision.failure(of_job | {"culprits": []})[0].answer.startswith("00:01:40")


@pytest.mark.parametrize(
    ("ends", "kind", "said"),
    [
        ([("exited", 1), ("unknown", None)], "log", "without the exit code of worker:1."),
        ([("unknown", None), ("unknown", None)], "log", "without exit codes."),
        ([("running", None), ("unknown", None)], "log", "without the exit code of worker:1."),
        (
            [("signal", -15), ("unknown", None)],
            "sacct",
            "without the exit code of worker:1 (sacct has only that of the whole step).",
        ),
    ],
    ids=["one of two", "none", "one runs", "accounting"],
)
def test_the_exit_codes_that_are_missing_are_named(ends: Json, kind: str, said: str) -> None:
    """Those of the others are here, or do not exist yet."""
    made = load("r101")
    recipe = {"kind": "exit_codes", "what": "exit codes", "how": "keep them", "docs": "x", "commands": []}
    finding = made["findings"][-1] | {"lacks": "exit_codes", "role": "cause", "cause": "peer.vanished"}
    workers = [
        made["workers"][0] | {"id": f"worker:{n}", "ended": {"how": how, "exit_code": code}}
        for n, (how, code) in enumerate(ends)
    ]
    sources = [made["sources"][0] | {"kind": kind}]
    made |= {"collect": [recipe], "findings": [finding], "workers": workers, "sources": sources, "next": []}
    (sentence,) = phrasing.uncollected(made | {"cause": "unknown"})
    assert f"1 rule could not be evaluated {said} Next time, keep them" in sentence


def evidence(worker: str, time: float | None) -> Json:
    """Make a place of evidence."""
    return {"worker": worker, "time": time}


def test_the_kernel_dates_a_fault_of_a_machine() -> None:
    """The program ends some time after that."""
    end = event("worker:1", "end", 100.0) | {"after": 100.0}
    places = [evidence("worker:0", 80.0), evidence("worker:1", 98.0), evidence("worker:1", None)]
    more = {"findings": [{"evidence": places}], "run": {"started": 90.0}}
    assert decision.failure(failed("hardware.gpu_fault", end, **more))[0].answer.startswith("00:01:38")
    assert decision.failure(failed("peer.killed", end, **more))[0].answer.startswith("after 00:01:40")
    before = more | {"run": {"started": 99.0}}
    assert decision.failure(failed("hardware.gpu_fault", end, **before))[0].answer.startswith(
        "after 00:01:40"
    )


def test_a_hang_has_no_end() -> None:
    """A dated line below the last step does not say that the job went on until then."""
    step = event("worker:1", "last_step", None) | {"after": 100.0, "before": 130.0}
    (row,) = decision.failure(failed("hang.collective_stalled", step))
    assert row.answer == "after 00:01:40.000 UTC on gpu-1"
    nan = step | {"kind": "nonfinite"}
    assert decision.failure(failed("numeric.nan_loss", nan))[0].answer.startswith("between 00:01:40")


def test_a_clock_of_another_time_zone_is_told_without_steps() -> None:
    """No step was compared."""
    clock = {
        "worker": "worker:1",
        "kind": "log",
        "basis": "zone",
        "steps": 0,
        "offset": 3600.0,
        "shift": 3600.0,
    }
    (note,) = phrasing.notes(load("r101") | {"findings": [], "clocks": [clock]})
    assert "1 h 0 min ahead of those of its peers, as if in another time zone" in note
    assert "steps" not in note
