"""Which machines are accused, and how all of them are ranked, on frames."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import polars as pl
import pytest

from analyzer.triage.hosts import SHARES, HostRate, rank_hosts

Share = tuple[int, str | None, str, str | None, int, int]


def ranked(shares: list[Share]) -> list[HostRate]:
    """The ranking of machines, from rows."""
    return rank_hosts(pl.DataFrame(shares, schema=SHARES, orient="row"))


def accused(shares: list[Share]) -> list[str]:
    """The names of the accused machines."""
    return [each.host for each in ranked(shares) if each.accused]


def fleet(seed: int, runs: int, bad: str = "", guilt: float = 0.8) -> Iterator[Share]:
    """Random pairs of 40 machines on 25 jobs; one run in ten fails, and `bad` breaks its own runs more often."""
    chance = Random(seed)
    for run in range(runs):
        used = chance.sample([f"n{number}" for number in range(40)], 2)
        culprit = chance.choice(used) if chance.random() < 0.1 else None
        if bad in used and chance.random() < guilt:
            culprit = bad
        job = f"job-{chance.randrange(25)}"
        for role, host in zip(("chief", "worker"), used, strict=True):
            yield run, job, host, role, 1, int(host == culprit)


def healthy(first: int, hosts: tuple[str, ...], job: str, count: int) -> Iterator[Share]:
    """Runs of a job that end well."""
    for run in range(first, first + count):
        yield from ((run, job, host, None, 1, 0) for host in hosts)


@pytest.mark.parametrize("seed", range(5))
def test_a_bad_machine_is_found_and_no_other(seed: int) -> None:
    """Fifteen or so of 300 runs are its own, and it is the culprit of four in five."""
    assert accused(list(fleet(seed, 300, "n7"))) == ["n7"]


def test_no_machine_is_accused_by_chance() -> None:
    """Nor in 30 fleets without a bad machine, with more and with fewer runs."""
    assert sum(len(accused(list(fleet(seed, 40 + 10 * seed)))) for seed in range(30)) == 0


def test_the_same_partners_again_and_again_accuse_nobody() -> None:
    """A job that is started forty times on the same pair says nothing about either machine elsewhere."""
    pair: list[Share] = [
        (run, "job", host, None, 1, int(host == "a")) for run in range(40) for host in ("a", "b")
    ]
    assert accused(pair) == []
    assert accused([(run, "job", "a", None, 2, 1) for run in range(40)]) == []


def test_a_bad_job_whose_chief_is_always_on_one_machine_accuses_nobody() -> None:
    """Whatever its partners: nothing tells the job's fault from the machine's. Other jobs or roles do."""
    rest = list(healthy(1_000, ("c", "d"), "good", 50))

    def shares(jobs: int, role: str) -> list[Share]:
        pairs = ((run, (("a", role), (f"p{run % 9}", "worker"))) for run in range(30))
        return [
            (run, f"job-{run % jobs}", host, as_, 1, int(host == "a"))
            for run, two in pairs
            for host, as_ in two
        ]

    assert accused([*shares(1, "chief"), *rest]) == []
    assert accused([*shares(1, "worker"), *rest]) == ["a"]
    assert accused([*shares(30, "chief"), *rest]) == ["a"]


def test_a_machine_that_always_has_the_chief_is_not_accused_for_its_role() -> None:
    """Schedulers sort machines by name, so the first one has the chief, and some faults strike the chief."""
    names = [f"n{number}" for number in range(8)]
    runs = [sorted(Random(seed).sample(names, 4)) for seed in range(300)]
    with_role: list[Share] = [
        (
            run,
            f"job-{run % 20}",
            host,
            "chief" if host == used[0] else "worker",
            1,
            int(host == used[0] and run % 3 == 0),
        )
        for run, used in enumerate(runs)
        for host in used
    ]
    assert accused(with_role) == []


def test_a_partner_of_a_bad_machine_is_not_accused() -> None:
    """It always runs with it, and is named in its stead once in four times."""
    shares: list[Share] = []
    for run in range(40):
        culprit = "partner" if run % 4 == 0 else "bad"
        shares += [
            (run, f"job-{run % 12}", host, None, 1, int(host == culprit))
            for host in ("bad", "partner", f"n{run % 7}")
        ]
    for number in range(12):
        shares += healthy(100 + 10 * number, (f"n{number % 7}", "other"), f"job-{number}", 10)
    assert accused(shares) == ["bad"]


def test_a_rate_is_shrunk_towards_the_fleet_the_more_the_fewer_runs_there_are() -> None:
    """One failure of one run says less than eight of ten; all machines are ranked, whether accused or not."""
    shares: list[Share] = [(0, "job-0", "once", None, 1, 1), (0, "job-0", "n0", None, 1, 0)]
    for run in range(1, 11):
        shares += [
            (run, f"job-{run}", "often", None, 1, int(run > 2)),
            (run, f"job-{run}", f"n{run % 5}", None, 1, 0),
        ]
    for number in range(5):
        shares += healthy(100 * (number + 1), (f"n{number}",), f"job-{number}", 20)
    found = {each.host: each for each in ranked(shares)}
    assert found["once"].rate < 0.5 < found["often"].rate < 0.8
    assert found["once"].high - found["once"].low > found["often"].high - found["often"].low
    assert len(found) == 7
    assert ranked([]) == []
