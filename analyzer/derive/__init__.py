"""Derives tables from tables: one module per table, each a pure function of the tables passed here."""

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


def derive(read: Tables, messages: Messages) -> Tables:
    """Return the ingested tables together with all tables derived from them."""
    read = {**read, "facts": with_recorded_facts(read["facts"], read["sources"])}
    training = read["scalars"].filter(pl.col("origin") != GAUGE)
    tasks = workers(read["sources"], read["facts"], read["records"], {task for task, _ in stepped(training)})
    raised = exceptions(read["records"], training, read["facts"], read["sources"], messages)
    offsets = clocks(read["sources"], training, read["facts"], tasks)
    common = CommonClock(offsets, read["sources"])
    lives = lifetimes({**read, "scalars": training}, tasks, raised, common, messages)
    quiet = silences(lives, training, common, scheduler_stop(read["facts"]))
    told = series(read["scalars"])
    pace = paces(training, read["sources"])
    met, traced = collectives(read["spans"]), steps(read["spans"])
    runs = in_progress(read["facts"], read["sources"], read["stalls"])
    accused = accusations(read["records"], read["facts"], lives, messages)
    return {
        **read,
        "workers": tasks,
        "clocks": offsets,
        "exceptions": raised,
        "lifetimes": lives,
        "silences": quiet,
        "barriers": barriers(lives, training, read["facts"], common),
        "matches": matches(read["matches"], lives, tasks, training),
        "accusations": accused,
        "series": told,
        "curves": curves(read["scalars"], tasks, told),
        "paces": pace,
        "pauses": pauses(read, common),
        "phases": phases(training),
        "collectives": met,
        "steps": traced,
        "waits": waits({**read, "scalars": training}, met, traced, pace, common),
        "replicas": replicas(read["checksums"]),
        "stalls": with_whole_stalls(read["stalls"], read["sources"]),
        "resources": resources(read["scalars"]),
        "reachability": reachability(read["reach"]),
        "cluster": cluster(read["facts"], tasks),
        "job": job(tasks, lives, quiet, read["records"], read["facts"], accused, runs),
    }
