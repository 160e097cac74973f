"""Ranks machines by how often they are the culprit, and finds those that chance does not explain.

The rate of a machine is shrunk towards that of the fleet: empirical Bayes for the beta-binomial model
(Kleinman, "Proportions with extraneous variance", JASA 68, 1973; Casella, "An introduction to empirical
Bayes data analysis", The American Statistician 39, 1985).

The test asks how often a machine as good as the others would be the culprit. Its runs are compared by job
and role (chief, parameter server, worker), since some faults belong to a job or strike one role:

- The rate of job and role comes from the runs *without* the machine, and otherwise from the fleet. How far
  jobs differ makes the number of failures of one job on one machine beta-binomial.
- A job that is hardly known without the machine is judged by its failed runs alone: in each, the culprit is
  any worker of the role with equal probability. (For a chief that is certain, which accuses nobody.)

The p-value is the upper tail of the sum. Holm's step-down procedure (Scandinavian Journal of Statistics 6,
1979) corrects for the number of machines; each step leaves out all runs of the machines accused so far, so
that nobody is accused for its partner.
"""

import math
from collections.abc import Iterator
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

FALSE_ACCUSATION_RATE = 0.0005
"""Maximum probability that any machine is accused on a night if all are equally good."""
MIN_CONTEXTS = 3
"""Minimum number of combinations of job and partners in which an accused machine was the culprit."""
_JOB_RUNS = 2.0
"""Number of runs by which the fleet's failure rate counts in a job's; small, because jobs differ a lot."""
_MAX_RATE = 0.95
_PRIOR_RUNS = (2.0, 200.0)
"""Least and greatest number of runs by which the fleet's rate counts in a machine's."""
_INTERVAL = (0.025, 0.975)

SHARES = pl.Schema(
    {
        "run": pl.Int64,
        "job": pl.String,
        "host": pl.String,
        "role": pl.String,
        "workers": pl.Int64,
        "culprits": pl.Int64,
    }
)
"""A machine of a run: the numbers of its workers, and of culprits of a cause that a machine can be.

Without a `job`, runs on the same machines are one job. A machine's `role` is `chief` if it has the chief.
"""


class HostRate(NamedTuple):
    """One machine: in how many of its runs it is the culprit, and how probable that is by chance."""

    host: str
    runs: int
    guilty: int
    contexts: int
    """Number of combinations of job and partners in which it is the culprit."""
    partners: int
    rate: float
    """Shrunk rate of runs with this culprit, with its 95 % credible interval `low` to `high`."""
    low: float
    high: float
    p_value: float
    accused: bool
    ids: tuple[int, ...]
    """Database IDs of the runs in which it is the culprit."""


def rank_hosts(shares: pl.DataFrame) -> list[HostRate]:
    """Return all machines, the accused first, then by shrunk rate; `shares` has the columns of `SHARES`."""
    trials = _trials(shares)
    if trials.is_empty():
        return []
    accused, judged = _step_down(trials)
    p_values = judged | accused
    found = [_host_rate(row, p_values, accused) for row in _rates(trials).iter_rows(named=True)]
    return sorted(found, key=lambda each: (not each.accused, -each.rate, each.p_value, each.host))


def _host_rate(row: dict[str, Any], p_values: dict[str, float], accused: dict[str, float]) -> HostRate:
    host = row["host"]
    values = {name: value for name, value in row.items() if name in HostRate._fields}
    values["ids"] = tuple(row["ids"])
    return HostRate(**values, p_value=p_values.get(host, 1.0), accused=host in accused)


def _trials(shares: pl.DataFrame) -> pl.DataFrame:
    """Return the shares with further columns.

    `share` is the machine's part of its role's workers, `guilty` 1 if it has a culprit, `struck` whether its
    role has one, and `together` the names of all machines of the run.
    """
    held, together = pl.col("workers"), pl.col("host").sort().str.join("\n").over("run")
    return shares.with_columns(
        role=pl.col("role").fill_null(""),
        job=pl.col("job").fill_null(together),
        together=together,
        share=held / held.sum().over("run", pl.col("role").fill_null("")),
        guilty=(pl.col("culprits") > 0).cast(pl.Int64),
        struck=(pl.col("culprits") > 0).any().over("run", pl.col("role").fill_null("")),
    )


def _rates(trials: pl.DataFrame) -> pl.DataFrame:
    """Return runs, guilty runs, contexts, partners and the shrunk rate of each machine."""
    guilty = pl.col("guilty") > 0
    pairs = trials.select("run", "host").join(trials.select("run", other="host"), on="run")
    met = pairs.group_by("host").agg(partners=pl.col("other").n_unique() - 1)
    hosts = trials.group_by("host").agg(
        runs=pl.len(),
        guilty=pl.col("guilty").sum(),
        contexts=pl.struct("job", "together").filter(guilty).n_unique(),
        ids=pl.col("run").filter(guilty).sort(),
    )
    mean, weight = _prior(hosts["guilty"].to_numpy(), hosts["runs"].to_numpy())
    counted = hosts.join(met, on="host").sort("host")
    bounds = [
        _interval(mean * weight + guilty, (1 - mean) * weight + runs - guilty)
        for guilty, runs in counted.select("guilty", "runs").iter_rows()
    ]
    return counted.with_columns(
        rate=(mean * weight + pl.col("guilty")) / (weight + pl.col("runs")),
        low=pl.Series([low for low, _ in bounds], dtype=pl.Float64),
        high=pl.Series([high for _, high in bounds], dtype=pl.Float64),
    )


def _prior(guilty: NDArray[np.int64], runs: NDArray[np.int64]) -> tuple[float, float]:
    """Return mean and weight (in runs) of the beta distribution of rates in the fleet, by moments."""
    total = float(runs.sum())
    mean = (float(guilty.sum()) + 0.5) / (total + 1.0)
    spread = float((runs * (guilty / runs - mean) ** 2).sum())
    chance, between = mean * (1 - mean) * (len(runs) - 1), total - float((runs**2).sum()) / total
    excess = (spread - chance) / max(between, 1.0)
    weight = mean * (1 - mean) / excess - 1 if excess > 0 else _PRIOR_RUNS[1]
    return mean, min(max(weight, _PRIOR_RUNS[0]), _PRIOR_RUNS[1])


def _interval(a: float, b: float) -> tuple[float, float]:
    """Return the 2.5 % and 97.5 % quantiles of the distribution Beta(a, b), integrated over the logit."""
    z = np.linspace(-40.0, 40.0, 4001)
    log = -a * np.logaddexp(0.0, -z) - b * np.logaddexp(0.0, z)
    whole = np.cumsum(np.exp(log - log.max()))
    low, high = np.interp(_INTERVAL, whole / whole[-1], z)
    return 1 / (1 + math.exp(-low)), 1 / (1 + math.exp(-high))


def _step_down(trials: pl.DataFrame) -> tuple[dict[str, float], dict[str, float]]:
    """Return p-values of the accused machines, and those of the others in runs without the accused."""
    hosts, accused = trials["host"].n_unique(), dict[str, float]()
    while True:
        judged = dict(_p_values(trials))
        worst = min(judged, key=lambda host: (judged[host], host), default=None)
        if worst is None or judged[worst] * (hosts - len(accused)) > FALSE_ACCUSATION_RATE:
            return accused, judged
        accused[worst] = judged[worst]
        trials = trials.filter(~(pl.col("host") == worst).any().over("run"))


def _p_values(trials: pl.DataFrame) -> Iterator[tuple[str, float]]:
    """Yield each machine that was the culprit in enough contexts with its p-value."""
    blamed = trials.filter(pl.col("guilty") > 0)
    contexts = blamed.group_by("host").agg(pl.struct("job", "together").n_unique())
    for host in contexts.filter(pl.col("job") >= MIN_CONTEXTS)["host"]:
        yield host, _upper_tail(_by_job(trials, host))


def _by_job(trials: pl.DataFrame, host: str) -> pl.DataFrame:
    """Return a row per job and role of a machine: its runs `n`, `guilty` ones, mean `share`, and `chances`.

    `chances` are its shares in the runs in which a worker of its role is the culprit. `blamed`, `seen` (of
    the job) and `fleet` (a rate) are the culprits and runs of other machines, for comparison.
    """
    own, others = trials.filter(pl.col("host") == host), trials.filter(pl.col("host") != host)
    blamed, runs = pl.col("guilty").sum(), pl.col("share").sum()
    held = own.group_by("job", "role").agg(
        n=pl.len(), guilty=blamed, share=pl.col("share").mean(), chances=pl.col("share").filter("struck")
    )
    elsewhere = others.join(own, on="run", how="anti").group_by("job", "role").agg(blamed=blamed, seen=runs)
    fleet = others.group_by("role").agg(fleet=(blamed + 0.5) / (runs + 1.0))
    known = held.join(elsewhere, on=["job", "role"], how="left").join(fleet, on="role", how="left")
    return known.with_columns(pl.col("blamed", "seen").fill_null(0), pl.col("fleet").fill_null(0.5))


def _upper_tail(jobs: pl.DataFrame) -> float:
    """Return P(culprit in at least as many runs as observed) for the jobs of one machine."""
    parts = [_distribution(**job) for job in jobs.drop("job", "role", "guilty").iter_rows(named=True)]
    return min(float(reduce(np.convolve, parts)[jobs["guilty"].sum() :].sum()), 1.0)


def _distribution(
    n: int, share: float, chances: list[float], blamed: int, seen: float, fleet: float
) -> NDArray[np.float64]:
    """Return the probabilities of being the culprit in 0, 1, … of `n` runs of one job and role."""
    weight = _JOB_RUNS + seen
    if n > weight:
        return reduce(np.convolve, ([1 - each, each] for each in chances), np.ones(1))
    rate = (_JOB_RUNS * fleet + blamed) / weight
    chance = min(rate * share, _MAX_RATE)
    return _beta_binomial(n, weight * chance, weight * (1 - chance))


def _beta_binomial(n: int, a: float, b: float) -> NDArray[np.float64]:
    """Return the probabilities of 0 to n successes in n trials whose rate is distributed as Beta(a, b)."""
    whole = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) - math.lgamma(a + b + n) + math.lgamma(n + 1)
    return np.exp(
        [
            whole + math.lgamma(a + k) + math.lgamma(b + n - k) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
            for k in range(n + 1)
        ]
    )
