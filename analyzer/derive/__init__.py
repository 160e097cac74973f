"""Derives tables from tables: one module per table, each a pure function of the tables passed here."""

import polars as pl

from analyzer.derive.checksums.nonfinite import nonfinite
from analyzer.derive.checksums.replicas import replicas
from analyzer.derive.checksums.restores import restores
from analyzer.derive.cluster.matches import matches
from analyzer.derive.cluster.misdirected_calls import misdirected_calls
from analyzer.derive.cluster.pods_of_other_times import without_pods_of_other_times
from analyzer.derive.cluster.pods_of_other_workloads import without_pods_of_other_workloads
from analyzer.derive.cluster.reachability import reachability
from analyzer.derive.cluster.stated_values import cluster
from analyzer.derive.cluster.workers import workers
from analyzer.derive.curves.curves import curves
from analyzer.derive.curves.series import series
from analyzer.derive.endings.earlier_attempts import earlier_attempts
from analyzer.derive.endings.exceptions import exceptions
from analyzer.derive.endings.job import job
from analyzer.derive.endings.last_errors import errors_beside
from analyzer.derive.endings.lifetimes import lifetimes
from analyzer.derive.endings.peers.accusations import accusations
from analyzer.derive.endings.recordings import in_progress, with_recorded_facts, with_whole_stalls
from analyzer.derive.endings.running_pods import with_pods_that_ran
from analyzer.derive.endings.teardown import scheduler_stop
from analyzer.derive.traces.collectives import collectives
from analyzer.derive.traces.steps import steps
from analyzer.derive.traces.waits import waits
from analyzer.derive.training.barriers import barriers
from analyzer.derive.training.clocks import clocks
from analyzer.derive.training.pauses import pauses
from analyzer.derive.training.phases import phases
from analyzer.derive.training.progress import stepped
from analyzer.derive.training.repetitions import repetitions
from analyzer.derive.training.resources import resources
from analyzer.derive.training.silences import silences
from analyzer.derive.training.step_rate import paces
from analyzer.model.messages import Messages
from analyzer.model.run import Tables
from analyzer.model.schema import GAUGE
from analyzer.tables.clock_alignment import CommonClock
from analyzer.tables.collection_time import collection_time
from analyzer.tables.kernel_times import RunTimes
from analyzer.tables.lazy_tables import LazyTables


def derive(read: Tables, messages: Messages) -> Tables:
    """Return all tables of a run: those that were read from its files, and those derived from them.

    A derived table is computed when it is first asked for. `messages` are the known lines of TensorFlow,
    launchers and scripts.
    """
    read = without_pods_of_other_times(without_pods_of_other_workloads(read))
    facts = with_pods_that_ran(with_recorded_facts(read["facts"], read["sources"]))
    read = {**read, "facts": facts}
    sources, records, scalars = (read[name] for name in ("sources", "records", "scalars"))
    gauged = scalars["origin"] == GAUGE
    training = scalars.filter(~gauged) if gauged.any() else scalars
    trained = {**read, "scalars": training}
    collected = collection_time(facts, sources)

    def of_job(t: Tables) -> pl.DataFrame:
        goes_on = in_progress(facts, sources, read["stalls"])
        quiet, accused = t["silences"], t["accusations"]
        told = (records, facts, accused, t["stalls"])
        return job(t["workers"], t["lifetimes"], quiet, *told, in_progress=goes_on, collected=collected)

    return LazyTables(
        read,
        {
            "workers": lambda _: workers(sources, facts, records, {task for task, _ in stepped(training)}),
            "clocks": lambda t: clocks(sources, training, facts, t["workers"]),
            "exceptions": lambda _: exceptions(records, training, facts, sources, messages),
            "lifetimes": lambda t: lifetimes(trained, t["workers"], t["exceptions"], _clock(t), messages),
            "earlier_attempts": lambda t: earlier_attempts(t["lifetimes"], t["exceptions"], facts, records),
            "errors_beside": lambda t: errors_beside(t["lifetimes"], records),
            "silences": lambda t: silences(
                t["lifetimes"],
                training,
                _clock(t),
                scheduler_stop(facts),
                collected,
                (records, sources),
                facts,
            ),
            "repetitions": lambda t: repetitions(t["lifetimes"], records, training),
            "barriers": lambda t: barriers(t["lifetimes"], training, facts, _clock(t)),
            "matches": lambda t: matches(
                read,
                t["lifetimes"],
                t["workers"],
                training,
                RunTimes(sources, records, training),
                t["exceptions"],
            ),
            "accusations": lambda t: accusations(records, facts, t["lifetimes"], messages),
            "series": lambda _: series(scalars),
            "curves": lambda t: curves(scalars, t["workers"], t["series"]),
            "paces": lambda _: paces(training, sources),
            "pauses": lambda t: pauses(read, _clock(t)),
            "phases": lambda _: phases(training),
            "collectives": lambda _: collectives(read["spans"]),
            "steps": lambda _: steps(read["spans"]),
            "waits": lambda t: waits(trained, t["collectives"], t["steps"], t["paces"], _clock(t)),
            "replicas": lambda _: replicas(read["checksums"]),
            "restores": lambda _: restores(read["checksums"], training),
            "nonfinite": lambda t: nonfinite(read["checksums"], t["workers"]),
            "stalls": lambda _: with_whole_stalls(read["stalls"], sources),
            "resources": lambda _: resources(scalars),
            "reachability": lambda _: reachability(read["reach"]),
            "misdirected_calls": lambda _: misdirected_calls(records, facts, messages),
            "cluster": lambda t: cluster(facts, t["workers"]),
            "job": of_job,
        },
    )


def _clock(tables: Tables) -> CommonClock:
    return CommonClock(tables["clocks"], tables["sources"])
