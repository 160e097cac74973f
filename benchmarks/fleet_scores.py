"""What the triage says of the planted fleet, against the truth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from analyzer.triage.night_summary import NightSummary
from analyzer.triage.restarts import job_of
from benchmarks.fleet import BACK_ON, GUILTY, Plan, Planted


class Score(NamedTuple):
    """What was planted of one kind, what of it was found, and what was said wrongly."""

    what: str
    planted: int
    found: int
    false: int


def scores(given: Plan, runs: Sequence[Planted], summaries: Mapping[int, NightSummary]) -> list[Score]:
    """Return the score of each kind of statement."""
    return [
        _new(runs, summaries),
        _news("came back", "regressed", {(each.group, BACK_ON) for each in given.back}, summaries),
        _gone(given, summaries),
        _guilty(summaries),
        _restarts(runs),
    ]


def _new(runs: Sequence[Planted], summaries: Mapping[int, NightSummary]) -> Score:
    first: dict[str, int] = {}
    kinds: dict[tuple[str, int], set[str]] = {}
    for run in sorted(run for run in runs if run.recording.truth != "healthy"):
        first.setdefault(run.recording.kind, run.night)
        kinds.setdefault((run.recording.group, run.night), set()).add(run.recording.kind)
    said = _states(summaries, "new")
    told = {kind for group, night in said for kind in kinds[group, night] if first[kind] == night}
    false = sum(all(first[kind] != night for kind in kinds[group, night]) for group, night in said)
    return Score("failures of a new kind", len(first), len(told), false)


def _news(what: str, state: str, truth: set[tuple[str, int]], summaries: Mapping[int, NightSummary]) -> Score:
    said = set(_states(summaries, state))
    return Score(what, len(truth), len(truth & said), len(said - truth))


def _gone(given: Plan, summaries: Mapping[int, NightSummary]) -> Score:
    truth = {each.group for each in (*given.gone, *given.back)}
    said = {group for group, _ in _states(summaries, "gone")}
    return Score("resolved", len(truth), len(truth & said), len(said - truth))


def _states(summaries: Mapping[int, NightSummary], state: str) -> list[tuple[str, int]]:
    return [
        (group, night)
        for night, summary in summaries.items()
        for group, stated in summary.states.items()
        if stated == state
    ]


def _guilty(summaries: Mapping[int, NightSummary]) -> Score:
    accused = [each.suspect.host for summary in summaries.values() for each in summary.suspects]
    return Score(
        "guilty machines (wrongly accused: by night)",
        1,
        int(GUILTY in accused),
        sum(host != GUILTY for host in accused),
    )


def _restarts(runs: Sequence[Planted]) -> Score:
    """Pairs of subsequent runs of one job, by the truth and by the path."""
    truth, said = (
        _pairs((each.job, each) for each in runs),
        _pairs((job_of(each.place, "/runs"), each) for each in runs),
    )
    return Score("subsequent lives of one job", len(truth), len(truth & said), len(said - truth))


def _pairs(named: Iterable[tuple[str | None, Planted]]) -> set[tuple[str, str]]:
    last: dict[str, Planted] = {}
    pairs = set()
    for job, run in sorted(named, key=lambda each: (each[1].started, each[1].place)):
        if job and job in last:
            pairs.add((last[job].place, run.place))
        if job:
            last[job] = run
    return pairs


def runs_until_accused(runs: Sequence[Planted], summaries: Mapping[int, NightSummary]) -> int | None:
    """Return how many runs the guilty machine had until the night on which it was accused first."""
    nights = [
        night for night, each in summaries.items() if GUILTY in {one.suspect.host for one in each.suspects}
    ]
    return sum(GUILTY in each.hosts and each.night <= min(nights) for each in runs) if nights else None
