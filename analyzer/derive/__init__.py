"""Tables → more tables. One module, one table; each is a pure function of the tables it names here."""

from __future__ import annotations

from analyzer.derive.accusations import accusations
from analyzer.derive.cluster import cluster
from analyzer.derive.collectives import collectives
from analyzer.derive.curves import curves
from analyzer.derive.exceptions import exceptions
from analyzer.derive.job import job
from analyzer.derive.lifetimes import lifetimes
from analyzer.derive.matches import matches
from analyzer.derive.paces import paces
from analyzer.derive.steps import steps
from analyzer.derive.waits import waits
from analyzer.derive.workers import workers
from analyzer.model import Tables


def derive(read: Tables) -> Tables:
    """The tables that ingest filled, and all that follow from them."""
    tasks = workers(read["sources"], read["facts"])
    raised = exceptions(read["records"], read["scalars"], read["facts"])
    lives = lifetimes(read, tasks, raised)
    met, traced = collectives(read["spans"]), steps(read["spans"])
    return {
        **read,
        "workers": tasks,
        "exceptions": raised,
        "lifetimes": lives,
        "matches": matches(read["matches"], lives),
        "accusations": accusations(read["records"], read["facts"], lives),
        "curves": curves(read["scalars"], tasks),
        "paces": paces(read["scalars"], read["sources"]),
        "collectives": met,
        "steps": traced,
        "waits": waits(read, met, traced),
        "cluster": cluster(read["facts"], tasks),
        "job": job(tasks, lives, read["records"], read["facts"]),
    }
