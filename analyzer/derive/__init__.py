"""Derives tables from tables: one module per table, each a pure function of the tables passed here."""

from functools import cache

import polars as pl

from analyzer.derive.cluster.exceptions import exceptions
from analyzer.derive.cluster.job import job
from analyzer.derive.cluster.lifetimes import lifetimes
from analyzer.derive.cluster.matches import matches
from analyzer.derive.cluster.peer_complaints import accusations
from analyzer.derive.cluster.reachability import reachability
from analyzer.derive.cluster.recordings import in_progress, with_recorded_facts, with_whole_stalls
from analyzer.derive.cluster.stated_values import cluster
from analyzer.derive.cluster.teardown import scheduler_stop
from analyzer.derive.cluster.workers import workers
from analyzer.derive.traces.collectives import collectives
from analyzer.derive.traces.steps import steps
from analyzer.derive.traces.waits import waits
from analyzer.derive.training.barriers import barriers
from analyzer.derive.training.clocks import clocks
from analyzer.derive.training.curves import curves
from analyzer.derive.training.pauses import pauses
from analyzer.derive.training.phases import phases
from analyzer.derive.training.progress import stepped
from analyzer.derive.training.replicas import replicas
from analyzer.derive.training.resources import resources
from analyzer.derive.training.series import series
from analyzer.derive.training.silences import silences
from analyzer.derive.training.step_rate import paces
from analyzer.model.messages import Messages
from analyzer.model.run import Tables
from analyzer.model.schema import GAUGE
from analyzer.tables.clock_alignment import CommonClock
from analyzer.tables.lazy_tables import LazyTables


def derive(read: Tables, messages: Messages) -> Tables:
    """Return the ingested tables together with all that derive from them, each computed on first use."""
    read = {**read, "facts": with_recorded_facts(read["facts"], read["sources"])}
    sources, facts, records, scalars = (read[name] for name in ("sources", "facts", "records", "scalars"))
    training = scalars.filter(pl.col("origin") != GAUGE)
    trained = {**read, "scalars": training}

    @cache
    def clock() -> CommonClock:
        return CommonClock(tables["clocks"], sources)

    def of_job() -> pl.DataFrame:
        goes_on = in_progress(facts, sources, read["stalls"])
        quiet, accused = tables["silences"], tables["accusations"]
        return job(tables["workers"], tables["lifetimes"], quiet, records, facts, accused, goes_on)

    tables = LazyTables(
        read,
        {
            "workers": lambda: workers(sources, facts, records, {task for task, _ in stepped(training)}),
            "clocks": lambda: clocks(sources, training, facts, tables["workers"]),
            "exceptions": lambda: exceptions(records, training, facts, sources, messages),
            "lifetimes": lambda: lifetimes(
                trained, tables["workers"], tables["exceptions"], clock(), messages
            ),
            "silences": lambda: silences(tables["lifetimes"], training, clock(), scheduler_stop(facts)),
            "barriers": lambda: barriers(tables["lifetimes"], training, facts, clock()),
            "matches": lambda: matches(read["matches"], tables["lifetimes"], tables["workers"], training),
            "accusations": lambda: accusations(records, facts, tables["lifetimes"], messages),
            "series": lambda: series(scalars),
            "curves": lambda: curves(scalars, tables["workers"], tables["series"]),
            "paces": lambda: paces(training, sources),
            "pauses": lambda: pauses(read, clock()),
            "phases": lambda: phases(training),
            "collectives": lambda: collectives(read["spans"]),
            "steps": lambda: steps(read["spans"]),
            "waits": lambda: waits(trained, tables["collectives"], tables["steps"], tables["paces"], clock()),
            "replicas": lambda: replicas(read["checksums"]),
            "stalls": lambda: with_whole_stalls(read["stalls"], sources),
            "resources": lambda: resources(scalars),
            "reachability": lambda: reachability(read["reach"]),
            "cluster": lambda: cluster(facts, tables["workers"]),
            "job": of_job,
        },
    )
    return tables
