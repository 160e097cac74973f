"""Sixty nights of a fleet with planted truth, made from the sample runs, and how the triage scores on it.

    python -m benchmarks.fleet            writes docs/triage-figures.md
    python -m benchmarks.fleet --print    prints it

Each recording is diagnosed once; its documents get other machines, times and names. Deterministic.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import NamedTuple

from analyzer.triage.database.history import History, default_history_url, open_history
from analyzer.triage.examine.run_task import ExaminedRun, Task, run_summary
from analyzer.triage.night_summary import NightSummary, summarize_night
from benchmarks.fleet_recordings import Recording, gpu_job, recordings

ROOT = Path(__file__).resolve().parent.parent
FIRST = datetime(2026, 9, 1, 6, tzinfo=UTC)
GUILTY, PARTNER = "node-17", "node-18"
GUILT = 0.8
NIGHTS, BACK_ON = 60, 45
_DAILY = (5, 15)
"""Nights on which the failures occur that are gone afterwards."""


class Planted(NamedTuple):
    """One run of the fleet; `hosts` are those of its workers, in order."""

    night: int
    place: str
    job: str
    recording: Recording
    hosts: tuple[str, ...]
    started: float


class Plan(NamedTuple):
    """Which recordings fail always, from a night on, daily and then no more, and by a machine."""

    healthy: Sequence[Recording]
    usual: Sequence[Recording]
    new: Mapping[int, Recording]
    back: Sequence[Recording]
    gone: Sequence[Recording]
    guilty: Sequence[Recording]


def plan(every: Sequence[Recording], machine_causes: Iterable[str], last: Mapping[int, Recording]) -> Plan:
    """Return which recordings take which part; `last` are new on a night besides those chosen here.

    What is planted to be new, to come back or to be gone has a cause that its files tell, and that nothing
    else in the fleet has.
    """
    failed = [each for each in every if each.truth not in {"healthy", "unknown"}]
    machine = set(machine_causes)
    guilty = [
        each for each in failed if len(each.document["culprits"]) == 1 and each.document["cause"] in machine
    ]
    told = (each for each in reversed(failed) if each not in guilty and not each.accepted)
    by_cause = {each.cause: each for each in told}
    single = [by_cause[cause] for cause in sorted(by_cause)]
    parts = [single[n::6] for n in range(3)]
    planted = {each.cause for part in parts for each in part}
    return Plan(
        healthy=[each for each in every if each.truth == "healthy"],
        usual=[each for each in failed if not {each.cause, each.truth} & planted],
        new={30 + 3 * n: each for n, each in enumerate(parts[0])} | dict(last),
        back=parts[1],
        gone=parts[2],
        guilty=[each for each in guilty if not {each.cause, each.truth} & planted],
    )


def fleet(given: Plan, nights: int, runs: int, hosts: int, seed: int = 1) -> Iterator[Planted]:
    """Yield the runs, night by night; a failed run is restarted in half of the cases."""
    chance = Random(seed)  # noqa: S311 - no secrets
    names = [f"node-{number:02d}" for number in range(hosts) if f"node-{number:02d}" != PARTNER]
    rates = [chance.betavariate(0.7, 3.4) for _ in range(hosts)]
    number = 40_000
    for night in range(nights):
        wanted = list(_planted_on(given, night))
        for place in range(runs):
            job = chance.randrange(hosts)
            recording, used = _first_life(chance, given, names, wanted, rates[job])
            lives = [(recording, used)]
            if recording.truth != "healthy" and chance.random() < 0.5:
                again = chance.choice(given.healthy) if chance.random() < 0.6 else recording
                lives.append((again, used if again is recording else _placed(chance, names, again)))
            for life, (each, on) in enumerate(lives):
                number += chance.randrange(1, 40)
                when = FIRST + timedelta(days=night - 1, minutes=20 * place + 90 * life)
                yield Planted(
                    night, _place(job, when, life, number), f"job-{job}", each, on, when.timestamp()
                )


def _first_life(
    chance: Random, given: Plan, names: Sequence[str], wanted: list[Recording], rate: float
) -> tuple[Recording, tuple[str, ...]]:
    """Return what becomes of a job, and where: what is planted first, then by its machines and its rate."""
    usual = chance.choice(given.usual if chance.random() < rate else given.healthy)
    recording = wanted.pop() if wanted else usual
    used = _placed(chance, names, recording)
    if recording is usual and GUILTY in used and chance.random() < GUILT:
        recording = chance.choice(given.guilty)
        used = _placed(chance, names, recording, GUILTY)
    return recording, used


def _planted_on(given: Plan, night: int) -> Iterator[Recording]:
    yield from (each for first, each in given.new.items() if night == first)
    daily = _DAILY[0] <= night < _DAILY[1]
    yield from given.gone if daily else ()
    yield from given.back if daily or night == BACK_ON else ()


def _placed(chance: Random, names: Sequence[str], recording: Recording, guilty: str = "") -> tuple[str, ...]:
    """Return the machines of the workers; the guilty one has the culprit, and its partner is with it."""
    used = chance.sample([name for name in names if name != guilty], min(recording.workers, len(names) - 1))
    if guilty:
        culprit = recording.document["culprits"][0]
        used[[each["id"] for each in recording.document["workers"]].index(culprit)] = guilty
    if GUILTY in used:
        used[(used.index(GUILTY) + 1) % len(used)] = PARTNER
    return tuple(used)


def _place(job: int, when: datetime, life: int, number: int) -> str:
    """Return the path of a run, in one of four layouts."""
    team, name = f"team-{job % 5}", f"model{'abcdefghij'[job % 10]}{'klmnopqr'[job // 10]}"
    return [
        f"/runs/{team}/{name}/{number}",
        f"/runs/{team}/{name}-{number}",
        f"/runs/{team}/{name}/{when:%Y%m%d-%H%M}",
        f"/runs/{when:%Y-%m-%d}/{team}/{name}-{number}" + f"-retry{life}" * (life > 0),
    ][job % 4]


def examined(run: Planted) -> ExaminedRun:
    """Return the result of the recording with the run's machines, times and place."""
    document = run.recording.document
    length = (document["run"]["ended"] or 0.0) - (document["run"]["started"] or 0.0)
    workers = [each | {"host": host} for each, host in zip(document["workers"], run.hosts, strict=False)]
    times = {"started": run.started, "ended": run.started + min(length, 3_000.0), "name": run.job}
    stamp = sha256(run.place.encode()).hexdigest()[:32]
    task = Task(run.place, run.place, stamp, root="/runs")
    moved = {**document, "run": {**document["run"], **times}, "workers": workers}
    return ExaminedRun(task, "diagnosed", stamp, run_summary(moved, task))


def nights_of(history: History, runs: Sequence[Planted]) -> Iterator[tuple[int, NightSummary]]:
    """Record the runs night by night, and yield the summary of each night."""
    for night in range(max(each.night for each in runs) + 1):
        when = FIRST + timedelta(days=night)
        date, ours = f"{when:%Y-%m-%d}", [each for each in runs if each.night == night]
        history.begin(date, when.timestamp())
        history.record(date, [(examined(each), None) for each in ours])
        yield night, summarize_night(history, date, len(ours), 0, [])


def page(every: Sequence[Recording], given: Plan, runs: Sequence[Planted], folder: Path) -> str:
    """Return the page with all tables."""
    from benchmarks import fleet_scores, grouping, host_power

    with open_history(default_history_url(folder)) as history:
        summaries = dict(nights_of(history, runs))
    rows = "".join(
        f"| {each.what} | {each.planted} | {each.found} | {each.false} |\n"
        for each in fleet_scores.scores(given, runs, summaries)
    )
    return _PAGE.format(
        runs=len(runs),
        nights=len(summaries),
        recordings=len(every),
        rows=rows,
        until=fleet_scores.runs_until_accused(runs, summaries),
        groups=grouping.table(every),
        power=host_power.power_table(),
        alarms=host_power.alarm_table(),
    )


_PAGE = """# How well mwms-triage does

`python -m benchmarks.fleet` writes this page.

## A fleet with planted truth

{nights} nights, {runs:,} runs on 40 machines, made from {recordings} sample runs.
One machine is the culprit in 80 % of its runs, and another always runs with it.
Some causes begin late, some come daily for ten nights and no more, some of those come back once.
On the last night, a job that asked for GPUs finds no CUDA libraries and trains on its CPUs to the end.
A *kind* of failure has one repair: it is a true cause, and also the planted fault
if the cause has a repair for each file, place in the code or cause behind it.
What a sample run accepts counts as its cause, because its files tell no more.

| | planted | found | wrong |
|---|---|---|---|
{rows}
The guilty machine was accused after {until} runs.

## Groups of failures

The groups of the sample runs against true cause and role of the culprit
(Rosenberg and Hirschberg, "V-measure", EMNLP 2007).
*Lenient* takes a cause for true that the sample run accepts, because its files cannot tell more.

{groups}
## Power of the test of machines

Share of simulated fleets in which a guilty machine was accused after 12 runs of its own;
one run in six fails elsewhere, by jobs that differ in how often they do.

{power}
## False alarms

Accusations in 100 nights of simulated fleets without a guilty machine, tested every eighth night;
machines at random, jobs on machines of their own,
and jobs whose chief is always on the first of them and often at fault.

{alarms}"""


def main() -> None:
    """Write the page, or print it."""
    from analyzer.pipeline import load_rules

    every = recordings()
    given = plan(every, load_rules().machine_causes, {NIGHTS - 1: gpu_job()})
    runs = list(fleet(given, nights=NIGHTS, runs=28, hosts=40))
    with tempfile.TemporaryDirectory() as folder:
        text = page(every, given, runs, Path(folder))
    if "--print" in sys.argv:
        print(text)  # noqa: T201
    else:
        (ROOT / "docs" / "triage-figures.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
