"""Simulated fleets: how soon a guilty machine is accused, and how often an innocent one is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from random import Random
from typing import NamedTuple

import polars as pl

from analyzer.triage.hosts import SHARES, rank_hosts

GUILTY = "n0"
FLEETS: dict[int, int] = {10: 60, 40: 40, 400: 5}
"""Number of simulated fleets by number of machines."""
_OWN_RUNS = 12
_NIGHTS, _EVERY = 60, 8


class Run(NamedTuple):
    """One simulated run: its job, the machine of each worker, and the culprit."""

    job: int
    hosts: Sequence[str]
    culprit: str | None


def power(machines: int, workers: int, guilt: float, seed: int) -> bool:
    """Return whether the guilty machine of one fleet is accused after 12 runs of its own."""
    found: list[Run] = []
    own = 0
    for run in _runs(Random(seed), machines, workers, guilt):  # noqa: S311
        found.append(run)
        own += GUILTY in run.hosts
        if own == _OWN_RUNS:
            break
    return GUILTY in _accused(found)


def alarms(machines: int, workers: int, placement: str, seed: int) -> Iterator[int]:
    """Yield the number of accusations on each tested night of a fleet without a guilty machine."""
    found: list[Run] = []
    runs = _runs(Random(seed), machines, workers, 0.0, placement)  # noqa: S311
    per_night = max(4, machines // 5)
    for night in range(_NIGHTS):
        found += [next(runs) for _ in range(per_night)]
        if night % _EVERY == _EVERY - 1:
            yield len(_accused(found))


def _runs(
    chance: Random, machines: int, workers: int, guilt: float, placement: str = "random"
) -> Iterator[Run]:
    """Yield runs of jobs with rates of failure of Beta(0.7, 3.4), one in six on average."""
    names = [f"n{number}" for number in range(machines)]
    jobs = max(25, machines // 2)
    rates = [chance.betavariate(0.7, 3.4) for _ in range(jobs)]
    pools = [chance.sample(names, min(machines, workers + 1)) for _ in range(jobs)]
    while True:
        job = chance.randrange(jobs)
        pool = names if placement == "random" else pools[job]
        used = chance.sample(pool, workers) if workers <= len(pool) else chance.choices(pool, k=workers)
        used = sorted(used) if placement == "chief" else used
        culprit = None
        if GUILTY in used and chance.random() < guilt:
            culprit = GUILTY
        elif chance.random() < rates[job]:
            culprit = used[0] if placement == "chief" and job % 2 else chance.choice(used)
        yield Run(job, used, culprit)


def _accused(runs: Sequence[Run]) -> set[str]:
    rows = [
        (
            number,
            f"job-{run.job}",
            host,
            "chief" if host == run.hosts[0] else "worker",
            run.hosts.count(host),
            int(host == run.culprit),
        )
        for number, run in enumerate(runs)
        for host in dict.fromkeys(run.hosts)
    ]
    return {each.host for each in rank_hosts(pl.DataFrame(rows, schema=SHARES, orient="row")) if each.accused}


def power_table() -> str:
    """Return the table of the documents."""
    lines = ["| machines | workers | 50 % guilt | 80 % | 100 % |", "|---|---|---|---|---|"]
    for machines, workers in product(FLEETS, (2, 4, 16)):
        shares = []
        for guilt in (0.5, 0.8, 1.0):
            fleets = FLEETS[machines]
            shares.append(sum(power(machines, workers, guilt, seed) for seed in range(fleets)) / fleets)
        lines.append(
            f"| {machines} | {workers} | "
            + " | ".join(f"{share:.0%}".replace("%", " %") for share in shares)
            + " |"
        )
    return "\n".join(lines) + "\n"


def alarm_table() -> str:
    """Return the table of the documents."""
    lines = ["| machines | workers | at random | own machines | chief's faults |", "|---|---|---|---|---|"]
    for machines, workers in product((10, 40), (2, 4, 16)):
        rates = []
        for placement in ("random", "own", "chief"):
            counts = [
                count
                for seed in range(FLEETS[machines] // 2)
                for count in alarms(machines, workers, placement, seed)
            ]
            rates.append(100 * sum(counts) / len(counts))
        lines.append(f"| {machines} | {workers} | " + " | ".join(f"{rate:.2f}" for rate in rates) + " |")
    return "\n".join(lines) + "\n"
