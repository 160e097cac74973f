"""Derives tables from tables: one module per table, each a pure function of the tables passed here."""

import polars as pl

from analyzer.derive.barriers import barriers
from analyzer.derive.clocks import clocks
from analyzer.derive.cluster import cluster
from analyzer.derive.collectives import collectives
from analyzer.derive.curves import curves
from analyzer.derive.exceptions import exceptions
from analyzer.derive.job import job
from analyzer.derive.lifetimes import lifetimes
from analyzer.derive.matches import matches
from analyzer.derive.pauses import pauses
from analyzer.derive.peer_complaints import accusations
from analyzer.derive.phases import phases
from analyzer.derive.progress import stepped
from analyzer.derive.reachability import reachability
from analyzer.derive.recordings import in_progress, with_recorded_facts, with_whole_stalls
from analyzer.derive.replicas import replicas
from analyzer.derive.resources import resources
from analyzer.derive.series import series
from analyzer.derive.silences import silences
from analyzer.derive.step_rate import paces
from analyzer.derive.steps import steps
from analyzer.derive.teardown import scheduler_stop
from analyzer.derive.waits import waits
from analyzer.derive.workers import workers
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
